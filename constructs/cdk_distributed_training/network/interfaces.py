"""What the other constructs need of a network, whoever made it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from cdk_distributed_training.network.training_call import TrainingCall


@runtime_checkable
class ITrainingNetwork(Protocol):
    """One subnet for training and the security group that its nodes share.

    `TrainingNetwork` makes one, on a VPC of its own or on an existing one, and `TrainingNetwork.from_attributes` refers
    to one made elsewhere.
    """

    @property
    def vpc(self) -> ec2.IVpc:
        """The VPC of the subnet."""
        ...

    @property
    def subnet(self) -> ec2.ISubnet:
        """The one subnet in which nodes and file systems live."""
        ...

    @property
    def availability_zone(self) -> str | None:
        """Name of the subnet's Availability Zone (often a token); None if the subnet was imported by its id alone."""
        ...

    @property
    def availability_zone_id(self) -> str | None:
        """Id of the subnet's Availability Zone (often a token); None if nothing says it."""
        ...

    @property
    def usable_addresses(self) -> int | None:
        """Addresses that the subnet has for network interfaces; None if its range is not known before deployment."""
        ...

    @property
    def node_security_group(self) -> ec2.ISecurityGroup:
        """The security group that is open to itself in both directions."""
        ...

    @property
    def security_groups(self) -> Sequence[ec2.ISecurityGroup]:
        """Every group that a node gets: the node security group, then any further ones."""
        ...

    @property
    def connections(self) -> ec2.Connections:
        """The node security group's connections."""
        ...

    def allow_lustre(
        self, scope: Construct, file_system_security_group: ec2.ISecurityGroup, *, efa: bool = False
    ) -> None:
        """Open the Lustre ports between the nodes and a file system, with rules that are made in `scope`."""
        ...

    def allow_nfs(self, scope: Construct, file_system_security_group: ec2.ISecurityGroup) -> None:
        """Open NFS between the nodes and a file system, with rules that are made in `scope`."""
        ...

    def add_calls(self, *calls: TrainingCall) -> None:
        """Give the nodes a private way to everything that these calls take; what is there already is left."""
        ...
