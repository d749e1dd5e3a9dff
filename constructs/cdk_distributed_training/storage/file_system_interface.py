"""What channels need of a file system, of whatever kind."""

from __future__ import annotations

from typing import Protocol, TypeVar

from aws_cdk import aws_ec2 as ec2

from cdk_distributed_training.network.interfaces import ITrainingNetwork

Grants_co = TypeVar("Grants_co", covariant=True)


class IFileSystem(Protocol[Grants_co]):
    """A file system that training nodes can reach; each kind has grants of its own."""

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
        """The connections of its security group."""
        ...

    @property
    def grants(self) -> Grants_co:
        """What can be granted on it."""
        ...
