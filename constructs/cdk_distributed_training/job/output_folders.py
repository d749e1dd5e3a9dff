"""Gives each kind of output its folder in S3, and the job's role the use of it."""

from __future__ import annotations

from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3

from cdk_distributed_training.job.s3_access import grant_synchronize, grant_write
from cdk_distributed_training.request.checkpoint_config import CheckpointConfig
from cdk_distributed_training.request.output_folder import OutputFolder
from cdk_distributed_training.request.stored import Stored


class OutputFolders:
    """The folders of one job: under one name, in its output bucket where no other is given."""

    def __init__(self, *, job_name: str, bucket: s3.IBucket, grantee: iam.IGrantable) -> None:
        """Serve a job.

        Args:
            job_name: The job's own name.
            bucket: Its output bucket.
            grantee: To whom the use of the folders is granted.
        """
        self._job_name = job_name
        self._bucket = bucket
        self._grantee = grantee

    def checkpoints(self, part: CheckpointConfig | None) -> Stored | None:
        """Checkpoints: written, and read again after a restart."""
        if part is None:
            return None
        bucket, prefix = self._place(part)
        grant_synchronize(self._grantee, bucket, f"{prefix}/" if prefix else "")
        return Stored(part, f"s3://{bucket.bucket_name}/{prefix}", "S3Uri")

    def written(self, part: OutputFolder | None) -> Stored | None:
        """Anything that is written and not read again."""
        if part is None:
            return None
        bucket, prefix = self._place(part)
        grant_write(self._grantee, bucket, f"{prefix}/" if prefix else "")
        return Stored(part, f"s3://{bucket.bucket_name}/{prefix}")

    def _place(self, part: OutputFolder) -> tuple[s3.IBucket, str]:
        return part.bucket or self._bucket, part.prefix_for(self._job_name)
