"""What may be granted on a pipeline."""

from __future__ import annotations

from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk_distributed_training.monitoring.training_logs import grant_reading_logs

# what SageMaker puts before the names of a pipeline's jobs
TRAINING_JOBS = "pipelines-*"


class PipelineGrants:
    """Permissions for people and services that use a pipeline."""

    def __init__(self, scope: Construct, pipeline_arn: str) -> None:
        """Use the pipeline's property `grants`."""
        self._scope = scope
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

    def read_logs(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to read what the runs print, and to look at their training jobs.

        All pipelines name training jobs `pipelines-...`: that is the logs of all pipelines of the account and region.
        """
        return grant_reading_logs(
            self._scope,
            lambda actions, resources: self._grant(grantee, actions, resources),
            names=[TRAINING_JOBS],
        )

    @property
    def _executions(self) -> str:
        return f"{self._pipeline_arn}/execution/*"

    def _grant(self, grantee: iam.IGrantable, actions: list[str], resources: list[str]) -> iam.Grant:
        return iam.Grant.add_to_principal(grantee=grantee, actions=actions, resource_arns=resources)
