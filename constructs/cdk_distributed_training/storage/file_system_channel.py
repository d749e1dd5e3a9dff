"""A job's input channel that mounts a directory of a file system, of whatever kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import aws_cdk as cdk

from cdk_distributed_training.checks.findings import raise_errors
from cdk_distributed_training.checks.rules import file_system_channels

if TYPE_CHECKING:
    from aws_cdk import aws_iam as iam

    from cdk_distributed_training.network.interfaces import ITrainingNetwork
    from cdk_distributed_training.storage.file_system_interface import IFileSystem

Grants = TypeVar("Grants")


class FileSystemChannel(ABC, Generic[Grants]):
    """A directory of a file system as an input channel.

    Nodes see the directory's files under `/opt/ml/input/data/<channel name>`, with no copying before the job starts.

    Attributes:
        channel_name: Name of the channel.
        directory_path: The directory.
        access_mode: `ro` or `rw`.
    """

    def __init__(
        self,
        file_system: IFileSystem[Grants],
        channel_name: str,
        *,
        directory_path: str = "/",
        access_mode: str = "ro",
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

    @abstractmethod
    def bind(self, grantee: iam.IGrantable) -> dict[str, Any]:
        """Render the channel as an entry of `InputDataConfig`.

        Args:
            grantee: The job's role, which gets what mounting the directory takes.
        """
