"""A job's input channel that mounts a directory of a file system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk as cdk

from cdk_distributed_training.checks.findings import raise_errors
from cdk_distributed_training.checks.rules import file_system_channels
from cdk_distributed_training.request.channels import lustre_channel

if TYPE_CHECKING:
    from aws_cdk import aws_iam as iam

    from cdk_distributed_training.network.interfaces import ITrainingNetwork
    from cdk_distributed_training.storage.interfaces import ILustreFileSystem


class LustreChannel:
    """A directory of an FSx for Lustre file system as an input channel; `LustreFileSystem.channel` makes one.

    Nodes see the directory's files under `/opt/ml/input/data/<channel name>`, with no copying before the job starts.

    Attributes:
        channel_name: Name of the channel.
        directory_path: The directory, seen from the file system's own root.
        access_mode: `ro` or `rw`.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_FileSystemDataSource.html
    """

    def __init__(
        self, file_system: ILustreFileSystem, channel_name: str, *, directory_path: str = "/", access_mode: str = "ro"
    ) -> None:
        """Make the channel.

        Raises:
            ConfigurationError: The path or the mode cannot be mounted.
        """
        if not cdk.Token.is_unresolved(directory_path):
            findings = [
                *file_system_channels.directory_path(directory_path),
                *file_system_channels.access_mode(access_mode),
            ]
        else:
            findings = list(file_system_channels.access_mode(access_mode))
        raise_errors(findings, where=f"channel {channel_name!r}")
        self.channel_name = channel_name
        self.directory_path = directory_path
        self.access_mode = access_mode
        self._file_system = file_system

    @property
    def network(self) -> ITrainingNetwork:
        """The network that the job must run in to reach the file system."""
        return self._file_system.network

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
        return f"/{self._file_system.mount_name}{path}"
