"""A VPC that holds one private subnet and no way to the internet."""

from __future__ import annotations

import ipaddress

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from cdk_distributed_training.network.placement import Placement


def create_vpc(
    scope: Construct,
    *,
    availability_zone: str | None,
    availability_zone_id: str | None,
    cidr: str,
    subnet_mask: int,
) -> tuple[Placement, ec2.CfnVPC]:
    """Create a VPC with one isolated subnet, from CloudFormation resources.

    CDK's own `Vpc` asks for the account's Availability Zones even when one is given, so that a stack with an account
    and a region could not be synthesized without credentials; and its subnets cannot be placed by zone id.

    Args:
        scope: Scope of the resources: `Vpc`, `Subnet`, `RouteTable`, `RouteTableAssociation`.
        availability_zone: Zone by name. If neither this nor the id is given, the region's first zone.
        availability_zone_id: Zone by id.
        cidr: The VPC's IPv4 range.
        subnet_mask: Prefix length of the subnet, which takes the first such block of the range.
    """
    path = scope.node.path
    vpc = ec2.CfnVPC(
        scope,
        "Vpc",
        cidr_block=cidr,
        enable_dns_hostnames=True,
        enable_dns_support=True,
        tags=[cdk.CfnTag(key="Name", value=path)],
    )
    if availability_zone is None and availability_zone_id is None:
        availability_zone = cdk.Fn.select(0, cdk.Fn.get_azs())
    subnet = ec2.CfnSubnet(
        scope,
        "Subnet",
        vpc_id=vpc.ref,
        cidr_block=_first_block(cidr, subnet_mask),
        availability_zone=availability_zone,
        availability_zone_id=availability_zone_id,
        map_public_ip_on_launch=False,
        # the tags by which CDK's own Vpc.from_lookup tells kinds of subnets apart
        tags=[
            cdk.CfnTag(key="Name", value=f"{path}/Training"),
            cdk.CfnTag(key="aws-cdk:subnet-name", value="Training"),
            cdk.CfnTag(key="aws-cdk:subnet-type", value="Isolated"),
        ],
    )
    if availability_zone is not None:
        cdk.Validations.of(subnet).acknowledge(
            cdk.Acknowledgment(
                id="CloudFormation-Validate::W3010",
                reason="Training runs in the one zone that has the capacity, so the zone is named on purpose.",
            )
        )
    routes = ec2.CfnRouteTable(scope, "RouteTable", vpc_id=vpc.ref, tags=[cdk.CfnTag(key="Name", value=path)])
    ec2.CfnSubnetRouteTableAssociation(scope, "RouteTableAssociation", route_table_id=routes.ref, subnet_id=subnet.ref)
    zone = availability_zone or subnet.attr_availability_zone
    typed = ec2.Vpc.from_vpc_attributes(
        scope,
        "Attributes",
        vpc_id=vpc.ref,
        vpc_cidr_block=cidr,
        availability_zones=[zone],
        isolated_subnet_ids=[subnet.ref],
        isolated_subnet_names=["Training"],
        isolated_subnet_route_table_ids=[routes.ref],
    )
    return Placement(typed, typed.isolated_subnets[0], zone, cidr), vpc


def _first_block(cidr: str, mask: int) -> str:
    if cdk.Token.is_unresolved(cidr):
        return cdk.Fn.select(0, cdk.Fn.cidr(cidr, 1, str(32 - mask)))
    return str(next(ipaddress.IPv4Network(cidr).subnets(new_prefix=mask)))
