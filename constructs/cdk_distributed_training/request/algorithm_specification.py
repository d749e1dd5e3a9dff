"""The container of a job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from cdk_distributed_training.request.request_part import RequestPart, spelled

if TYPE_CHECKING:
    from cdk_distributed_training.request.metric_definition import MetricDefinition
    from cdk_distributed_training.request.registry_access import RegistryAccess

InputMode = Literal["File", "FastFile", "Pipe"]


@dataclass(frozen=True, kw_only=True)
class AlgorithmSpecification(RequestPart):
    """Image, command and what is read from the log.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_AlgorithmSpecification.html

    Attributes:
        image_uri: The image's address; `None` with `algorithm_name`.
        algorithm_name: One of SageMaker's algorithm resources in place of an image.
        input_mode: How channels without a mode of their own reach the container: `File` downloads before the start,
            `FastFile` streams on read, `Pipe` gives a pipe.
        entrypoint: The container's command; the image's own unless given.
        arguments: What follows the command.
        time_series: Whether SageMaker keeps the metrics that the script reports as time series.
        registry_access: How the image is pulled from a registry that is not ECR's; `None` for ECR.
        metric_definitions: Numbers in the log that become metrics, at most 40.
    """

    image_uri: str | None = field(default=None, metadata=spelled("TrainingImage"))
    algorithm_name: str | None = field(default=None, metadata=spelled("AlgorithmName"))
    input_mode: InputMode = field(default="File", metadata=spelled("TrainingInputMode"))
    entrypoint: Sequence[str] = field(default=(), metadata=spelled("ContainerEntrypoint"))
    arguments: Sequence[str] = field(default=(), metadata=spelled("ContainerArguments"))
    time_series: bool = field(default=True, metadata=spelled("EnableSageMakerMetricsTimeSeries"))
    registry_access: RegistryAccess | None = field(default=None, metadata=spelled("TrainingImageConfig"))
    metric_definitions: Sequence[MetricDefinition] = field(default=(), metadata=spelled("MetricDefinitions"))
