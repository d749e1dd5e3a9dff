"""Where checkpoints live."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aws_cdk import aws_s3 as s3


@dataclass(frozen=True, kw_only=True)
class CheckpointConfig:
    """A folder in the container that SageMaker keeps equal to one in S3, while the job runs and before it restarts.

    Every run of the job shares the folder: a new run finds what the last one left.
    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/model-checkpoints.html

    Attributes:
        bucket: The bucket; the job's output bucket unless given.
        prefix: The folder in the bucket; `checkpoints/` and the job's name unless given.
        local_path: The folder in the container.
    """

    bucket: s3.IBucket | None = None
    prefix: str | None = None
    local_path: str = "/opt/ml/checkpoints"
