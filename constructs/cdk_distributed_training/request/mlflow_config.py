"""Where a job's runs appear in MLflow."""

from __future__ import annotations

from dataclasses import dataclass, field

from cdk_distributed_training.request.request_part import RequestPart, spelled


@dataclass(frozen=True, kw_only=True)
class MlflowConfig(RequestPart):
    """A tracking server or app of SageMaker's managed MLflow.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_MlflowConfig.html

    Attributes:
        resource_arn: ARN of the MLflow tracking server or app.
        experiment_name: The experiment, at most 256 characters; the service's default unless given.
        run_name: The run, at most 256 characters; the service's default unless given.
    """

    resource_arn: str = field(metadata=spelled("MlflowResourceArn"))
    experiment_name: str | None = field(default=None, metadata=spelled("MlflowExperimentName"))
    run_name: str | None = field(default=None, metadata=spelled("MlflowRunName"))
