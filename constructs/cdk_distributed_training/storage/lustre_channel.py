"""A job's input channel that mounts a directory of a file system of FSx for Lustre."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk as cdk

from cdk_distributed_training.request.channels import lustre_channel
from cdk_distributed_training.storage.file_system_channel import FileSystemChannel
from cdk_distributed_training.storage.lustre_grants import LustreFileSystemGrants

if TYPE_CHECKING:
    from aws_cdk import aws_iam as iam

    from cdk_distributed_training.storage.file_system_interface import IFileSystem


class LustreChannel(FileSystemChannel[LustreFileSystemGrants]):
    """A directory of an FSx for Lustre file system, seen from its own root; `LustreFileSystem.channel` makes one.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_FileSystemDataSource.html
    """

    def __init__(
        self,
        file_system: IFileSystem[LustreFileSystemGrants],
        channel_name: str,
        *,
        mount_name: str,
        directory_path: str = "/",
        access_mode: str = "ro",
    ) -> None:
        """Make the channel; the mount name is the file system's.

        Raises:
            ConfigurationError: The path or the mode cannot be mounted.
        """
        super().__init__(file_system, channel_name, directory_path=directory_path, access_mode=access_mode)
        self._mount_name = mount_name

    def bind(self, grantee: iam.IGrantable) -> dict[str, Any]:
        """Render the channel as an entry of `InputDataConfig`.

        Args:
            grantee: The job's role, which gets leave to describe the file system.
        """
        self._file_system.grants.describe(grantee)
        return lustre_channel(
            self.channel_name,
            file_system_id=self._file_system.file_system_id,
            directory_path=self._mounted_path(),
            access_mode=self.access_mode,
        )

    def _mounted_path(self) -> str:
        # The service wants the mount name, which FSx makes up, in front of the path.
        path = self.directory_path
        if not cdk.Token.is_unresolved(path):
            path = "".join(f"/{part}" for part in path.split("/") if part)
        return f"/{self._mount_name}{path}"
