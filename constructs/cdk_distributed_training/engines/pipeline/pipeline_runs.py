"""Executions of a pipeline as runs that a schedule starts."""

from __future__ import annotations

from collections.abc import Mapping

from cdk_distributed_training.engines.job_expressions import expression
from cdk_distributed_training.engines.run_calls import RunCalls


def pipeline_runs(*, pipeline_name: str, pipeline_arn: str, parameters: Mapping[str, str]) -> RunCalls:
    """Executions of a pipeline, of which a request token starts one.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_StartPipelineExecution.html

    Args:
        pipeline_name: The pipeline.
        pipeline_arn: Its ARN.
        parameters: What each execution sets.
    """
    named = {"PipelineName": expression("$runs.pipeline")}
    going = 'PipelineExecutionStatus in ["Executing", "Stopping"]'
    listed_runs = "$states.result.PipelineExecutionSummaries"
    listed = [{"Name": name, "Value": value} for name, value in parameters.items()]
    return RunCalls(
        service="sagemaker",
        runs={"pipeline": pipeline_name, "parameters": listed},
        listing=(
            "listPipelineExecutions",
            {**named, "SortBy": "CreationTime", "SortOrder": "Descending", "MaxResults": 100},
        ),
        running_only={},
        running=f"$count({listed_runs}[{going}])",
        latest=f"{listed_runs}[0].PipelineExecutionArn",
        latest_going=f"{listed_runs}[0].{going}",
        starting=(
            "startPipelineExecution",
            {
                **named,
                # a token has at least 32 characters
                "ClientRequestToken": expression('$substring($hash($name, "SHA-256"), 0, 64)'),
                "PipelineParameters": expression("$runs.parameters"),
            },
        ),
        started="$states.result.PipelineExecutionArn",
        passing_errors=("SageMaker.SageMakerException", "SageMaker.SdkClientException"),
        actions=("sagemaker:ListPipelineExecutions", "sagemaker:StartPipelineExecution"),
        resource=pipeline_arn,
    )
