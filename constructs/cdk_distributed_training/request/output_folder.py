"""A folder in S3 that SageMaker writes to while a job runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from cdk_distributed_training.request.request_part import RequestPart

if TYPE_CHECKING:
    from aws_cdk import aws_s3 as s3


@dataclass(frozen=True, kw_only=True)
class OutputFolder(RequestPart):
    """Base of what SageMaker stores beside the model.

    Attributes:
        bucket: The bucket; the job's output bucket unless given.
        prefix: The folder in the bucket; one named after the kind of output and the job unless given.
        folder: The kind of output, as a folder's name.
    """

    bucket: s3.IBucket | None = None
    prefix: str | None = None
    folder: ClassVar[str] = "output"

    def prefix_for(self, job_name: str) -> str:
        """The folder in the bucket, without a slash at the end."""
        return f"{self.folder}/{job_name}" if self.prefix is None else self.prefix.rstrip("/")
