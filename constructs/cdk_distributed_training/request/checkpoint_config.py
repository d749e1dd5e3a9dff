"""Where checkpoints live."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from cdk_distributed_training.request.output_folder import OutputFolder
from cdk_distributed_training.request.request_part import spelled


@dataclass(frozen=True, kw_only=True)
class CheckpointConfig(OutputFolder):
    """A folder in the container that SageMaker keeps equal to one in S3, while the job runs and before it restarts.

    Every run of the job shares the folder: a new run finds what the last one left.
    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/model-checkpoints.html

    Attributes:
        bucket: The bucket; the job's output bucket unless given.
        prefix: The folder in the bucket; `checkpoints/` and the job's name unless given.
        local_path: The folder in the container.
    """

    folder: ClassVar[str] = "checkpoints"

    local_path: str = field(default="/opt/ml/checkpoints", metadata=spelled("LocalPath"))
