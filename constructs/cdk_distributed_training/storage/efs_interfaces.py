"""What a job needs of an EFS file system, whoever made it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from aws_cdk import aws_ec2 as ec2

from cdk_distributed_training.network.interfaces import ITrainingNetwork

if TYPE_CHECKING:
    from cdk_distributed_training.storage.efs_channel import EfsChannel
    from cdk_distributed_training.storage.efs_grants import EfsFileSystemGrants


@runtime_checkable
class IEfsFileSystem(Protocol):
    """An EFS file system that training nodes can reach."""

    @property
    def file_system_id(self) -> str:
        """Id, such as `fs-0123456789abcdef0`."""
        ...

    @property
    def file_system_arn(self) -> str:
        """ARN."""
        ...

    @property
    def network(self) -> ITrainingNetwork:
        """The network whose nodes reach it."""
        ...

    @property
    def connections(self) -> ec2.Connections:
        """The connections of its mount target's security group."""
        ...

    @property
    def grants(self) -> EfsFileSystemGrants:
        """What can be granted on it."""
        ...

    def channel(self, name: str, *, directory_path: str = "/", access_mode: str = "ro") -> EfsChannel:
        """A job's input channel that mounts a directory of it."""
        ...
