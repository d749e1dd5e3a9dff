"""A training network that somebody else made."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from cdk_distributed_training.checks.findings import raise_errors
from cdk_distributed_training.checks.rules import network_groups
from cdk_distributed_training.checks.rules.keywords import unsettled_list
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
        availability_zone_id: str | None = None,
    ) -> None:
        """Refer to the network; see `TrainingNetwork.from_attributes` for the arguments."""
        super().__init__(scope, id)
        placement = place_on(
            vpc,
            subnet=subnet,
            vpc_subnets=None,
            availability_zone=availability_zone,
            availability_zone_id=availability_zone_id,
            where=self.node.path,
        )
        self._settle(placement, [node_security_group, *additional_security_groups])


def import_by_ids(
    scope: Construct,
    id: str,
    *,
    vpc_id: str,
    subnet_id: str,
    security_group_ids: Sequence[str],
    availability_zone: str | None,
    availability_zone_id: str | None,
    mutable: bool,
) -> ImportedTrainingNetwork:
    """Refer to the network; see `TrainingNetwork.from_ids` for the arguments."""
    raise_errors(
        [
            *network_groups.some_security_group(len(security_group_ids)),
            *unsettled_list("security_group_ids", security_group_ids),
        ],
        where=f"{scope.node.path}/{id}",
    )
    # the ids get a scope of their own, so that one scope can hold several networks
    parts = Construct(scope, f"{id}Ids")
    groups = [
        ec2.SecurityGroup.from_security_group_id(
            parts, f"SecurityGroup{place}", identifier, mutable=mutable, allow_all_outbound=False
        )
        for place, identifier in enumerate(security_group_ids)
    ]
    zones = ["unknown" if availability_zone is None else availability_zone]  # CDK wants one
    return ImportedTrainingNetwork(
        scope,
        id,
        vpc=ec2.Vpc.from_vpc_attributes(parts, "Vpc", vpc_id=vpc_id, availability_zones=zones),
        subnet=ec2.Subnet.from_subnet_attributes(
            parts, "Subnet", subnet_id=subnet_id, availability_zone=availability_zone
        ),
        node_security_group=groups[0],
        additional_security_groups=groups[1:],
        availability_zone=availability_zone,
        availability_zone_id=availability_zone_id,
    )
