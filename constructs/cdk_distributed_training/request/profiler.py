"""SageMaker's profiler: what the machines do while the script trains."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from cdk_distributed_training.request.output_folder import OutputFolder
from cdk_distributed_training.request.request_part import milliseconds, spelled

if TYPE_CHECKING:
    import aws_cdk as cdk


@dataclass(frozen=True, kw_only=True)
class Profiler(OutputFolder):
    """What the profiler stores, and where. Without it nothing is measured.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ProfilerConfig.html

    Attributes:
        bucket: The bucket; the job's output bucket unless given.
        prefix: The folder in the bucket; `profiler/` and the job's name unless given.
        interval: Time between two measurements: 100, 200 or 500 milliseconds, 1, 5 or 60 seconds; 500 milliseconds
            unless given.
        parameters: What is measured in the framework, texts, at most 20.
        enabled: Whether anything is measured; false says so in the request.
    """

    folder: ClassVar[str] = "profiler"

    interval: cdk.Duration | None = field(
        default=None, metadata=spelled("ProfilingIntervalInMilliseconds", milliseconds)
    )
    parameters: Mapping[str, str] = field(default_factory=dict, metadata=spelled("ProfilingParameters"))
    enabled: bool = field(default=True, metadata=spelled("DisableProfiler", operator.not_))
