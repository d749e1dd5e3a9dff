"""Metrics that SageMaker reads from the log."""

from __future__ import annotations

from dataclasses import dataclass, field

from cdk_distributed_training.request.request_part import RequestPart, spelled


@dataclass(frozen=True, kw_only=True)
class MetricDefinition(RequestPart):
    """A number in the job's log that becomes a metric in CloudWatch, in the namespace `/aws/sagemaker/TrainingJobs`.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_MetricDefinition.html

    Attributes:
        name: The metric's name, at most 255 characters.
        regex: Regular expression with one group that is the number, such as `loss=([0-9.]+)`; at most 500 characters.
    """

    name: str = field(metadata=spelled("Name"))
    regex: str = field(metadata=spelled("Regex"))
