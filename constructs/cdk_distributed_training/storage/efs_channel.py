"""A job's input channel that mounts a directory of an EFS file system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk as cdk

from cdk_distributed_training.checks.findings import raise_errors
from cdk_distributed_training.checks.rules import file_system_channels
from cdk_distributed_training.request.channels import efs_channel

if TYPE_CHECKING:
    from aws_cdk import aws_iam as iam

    from cdk_distributed_training.network.interfaces import ITrainingNetwork
    from cdk_distributed_training.storage.efs_interfaces import IEfsFileSystem


class EfsChannel:
    """A directory of an EFS file system as an input channel; `EfsFileSystem.channel` makes one.

    Nodes see the directory's files under `/opt/ml/input/data/<channel name>`, with no copying before the job starts.

    Attributes:
        channel_name: Name of the channel.
        directory_path: The directory, which must exist when a job starts.
        access_mode: `ro` or `rw`.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_FileSystemDataSource.html
    """

    def __init__(
        self, file_system: IEfsFileSystem, channel_name: str, *, directory_path: str = "/", access_mode: str = "ro"
    ) -> None:
        """Make the channel.

        Raises:
            ConfigurationError: The path or the mode cannot be mounted.
        """
        findings = list(file_system_channels.access_mode(access_mode))
        if not cdk.Token.is_unresolved(directory_path):
            findings = [*file_system_channels.directory_path(directory_path), *findings]
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
