"""What may be granted on a pipeline."""

from __future__ import annotations

from aws_cdk import aws_iam as iam


class PipelineGrants:
    """Permissions for people and services that use a pipeline."""

    def __init__(self, pipeline_arn: str) -> None:
        """Use the pipeline's property `grants`."""
        self._pipeline_arn = pipeline_arn

    def start(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to start executions."""
        return self._grant(grantee, ["sagemaker:StartPipelineExecution"], [self._pipeline_arn])

    def read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to see the pipeline and its executions."""
        self._grant(grantee, ["sagemaker:DescribePipeline", "sagemaker:ListPipelineExecutions"], [self._pipeline_arn])
        return self._grant(
            grantee,
            [
                "sagemaker:DescribePipelineExecution",
                "sagemaker:ListPipelineExecutionSteps",
                "sagemaker:ListPipelineParametersForExecution",
            ],
            [self._executions],
        )

    def stop(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to stop executions, which stops their training job."""
        return self._grant(grantee, ["sagemaker:StopPipelineExecution"], [self._executions])

    @property
    def _executions(self) -> str:
        return f"{self._pipeline_arn}/execution/*"

    def _grant(self, grantee: iam.IGrantable, actions: list[str], resources: list[str]) -> iam.Grant:
        return iam.Grant.add_to_principal(grantee=grantee, actions=actions, resource_arns=resources)
