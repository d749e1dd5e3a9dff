"""What a job needs of a file system, whoever made it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from aws_cdk import aws_ec2 as ec2

from cdk_distributed_training.network.interfaces import ITrainingNetwork

if TYPE_CHECKING:
    from cdk_distributed_training.storage.lustre_channel import LustreChannel
    from cdk_distributed_training.storage.lustre_grants import LustreFileSystemGrants


@runtime_checkable
class ILustreFileSystem(Protocol):
    """An FSx for Lustre file system that training nodes can reach."""

    @property
    def file_system_id(self) -> str:
        """Id, such as `fs-0123456789abcdef0`."""
        ...

    @property
    def file_system_arn(self) -> str:
        """ARN."""
        ...

    @property
    def mount_name(self) -> str:
        """First part of every path that a client mounts."""
        ...

    @property
    def dns_name(self) -> str:
        """Host name that a client mounts."""
        ...

    @property
    def network(self) -> ITrainingNetwork:
        """The network whose nodes reach it."""
        ...

    @property
    def connections(self) -> ec2.Connections:
        """The connections of its security group."""
        ...

    @property
    def grants(self) -> LustreFileSystemGrants:
        """What can be granted on it."""
        ...

    def channel(self, name: str, *, directory_path: str = "/", access_mode: str = "ro") -> LustreChannel:
        """A job's input channel that mounts a directory of it."""
        ...
