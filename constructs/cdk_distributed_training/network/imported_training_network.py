"""A training network that somebody else made."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from cdk_distributed_training.network.existing_vpc import place_on
from cdk_distributed_training.network.training_network_base import TrainingNetworkBase


class ImportedTrainingNetwork(TrainingNetworkBase):
    """What `TrainingNetwork.from_attributes` returns."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        vpc: ec2.IVpc,
        subnet: ec2.ISubnet,
        node_security_group: ec2.ISecurityGroup,
        additional_security_groups: Sequence[ec2.ISecurityGroup] = (),
        availability_zone: str | None = None,
    ) -> None:
        """Refer to the network; see `TrainingNetwork.from_attributes` for the arguments."""
        super().__init__(scope, id)
        placement = place_on(
            vpc, subnet=subnet, vpc_subnets=None, availability_zone=availability_zone, where=self.node.path
        )
        self._settle(placement, [node_security_group, *additional_security_groups])
