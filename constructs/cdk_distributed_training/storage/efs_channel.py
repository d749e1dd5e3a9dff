"""A job's input channel that mounts a directory of an EFS file system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cdk_distributed_training.request.channels import efs_channel
from cdk_distributed_training.storage.efs_grants import EfsFileSystemGrants
from cdk_distributed_training.storage.file_system_channel import FileSystemChannel

if TYPE_CHECKING:
    from aws_cdk import aws_iam as iam


class EfsChannel(FileSystemChannel[EfsFileSystemGrants]):
    """A directory of an EFS file system, which must exist when a job starts; `EfsFileSystem.channel` makes one.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_FileSystemDataSource.html
    """

    def bind(self, grantee: iam.IGrantable) -> dict[str, Any]:
        """Render the channel as an entry of `InputDataConfig`.

        Args:
            grantee: The job's role, which gets leave to find the file system's mount target and to mount it.
        """
        grants = self._file_system.grants
        grants.describe(grantee)
        (grants.write if self.access_mode == "rw" else grants.read)(grantee)
        return efs_channel(
            self.channel_name,
            file_system_id=self._file_system.file_system_id,
            directory_path=self.directory_path,
            access_mode=self.access_mode,
        )
