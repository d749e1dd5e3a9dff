"""A VPC that holds one private subnet for training."""

from __future__ import annotations

from dataclasses import dataclass

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from cdk_distributed_training.network.addresses import first_block, last_block
from cdk_distributed_training.network.internet_access import InternetAccess, PublicSubnet, VpcParts
from cdk_distributed_training.network.named_zone import acknowledge_named_zone
from cdk_distributed_training.network.placement import Placement
from cdk_distributed_training.tokens import known

PUBLIC_PREFIX = 28  # the smallest subnet that EC2 makes; a NAT gateway takes one address


@dataclass(frozen=True, kw_only=True)
class OwnVpc:
    """A new VPC, as the user asked for it.

    Attributes:
        availability_zone: Zone by name; if neither this nor the id is given, the region's first zone.
        availability_zone_id: Zone by id.
        cidr: The VPC's IPv4 range.
        secondary_cidr: A second range, from which the training subnet then comes.
        subnet_mask: Prefix length of the training subnet, which takes the first such block of its range.
        internet: The way to the internet.
    """

    availability_zone: str | None
    availability_zone_id: str | None
    cidr: str
    secondary_cidr: str | None
    subnet_mask: int
    internet: InternetAccess

    def create(self, scope: Construct) -> tuple[Placement, ec2.CfnVPC]:
        """Create the VPC with its subnet in `scope`, from CloudFormation resources.

        CDK's own `Vpc` asks for the account's Availability Zones even when one is given, so that a stack with an
        account and a region could not be synthesized without credentials; and its subnets cannot be placed by zone id.
        """
        path = scope.node.path
        vpc = ec2.CfnVPC(
            scope,
            "Vpc",
            cidr_block=self.cidr,
            enable_dns_hostnames=True,
            enable_dns_support=True,
            tags=[cdk.CfnTag(key="Name", value=path)],
        )
        zone = self.availability_zone
        if zone is None and self.availability_zone_id is None:
            zone = cdk.Fn.select(0, cdk.Fn.get_azs())
        block = _first(self.secondary_cidr or self.cidr, self.subnet_mask)
        subnet = self._subnet(scope, vpc, zone, block)
        routes = ec2.CfnRouteTable(scope, "RouteTable", vpc_id=vpc.ref, tags=[cdk.CfnTag(key="Name", value=path)])
        ec2.CfnSubnetRouteTableAssociation(
            scope, "RouteTableAssociation", route_table_id=routes.ref, subnet_id=subnet.ref
        )
        parts = VpcParts(
            vpc.ref,
            routes.ref,
            public_block=self._public_block() if self.internet.needs_public_subnet else "",
            availability_zone=zone,
            availability_zone_id=self.availability_zone_id,
        )
        public = self.internet.connect(scope, parts)
        known_zone = zone or subnet.attr_availability_zone
        typed = ec2.Vpc.from_vpc_attributes(
            scope,
            "Attributes",
            vpc_id=vpc.ref,
            vpc_cidr_block=self.cidr,
            availability_zones=[known_zone],
            **self._subnet_attributes(subnet.ref, routes.ref, public),  # type: ignore[arg-type]  # their types differ
        )
        placement = Placement(
            typed,
            [*typed.private_subnets, *typed.isolated_subnets][0],
            known_zone,
            self.cidr,
            availability_zone_id=self.availability_zone_id or subnet.attr_availability_zone_id,
            subnet_cidr=block if known(block) else None,
        )
        return placement, vpc

    def _subnet(self, scope: Construct, vpc: ec2.CfnVPC, zone: str | None, block: str) -> ec2.CfnSubnet:
        second = None
        if self.secondary_cidr is not None:
            second = ec2.CfnVPCCidrBlock(scope, "SecondaryCidr", vpc_id=vpc.ref, cidr_block=self.secondary_cidr)
        subnet = ec2.CfnSubnet(
            scope,
            "Subnet",
            vpc_id=vpc.ref,
            cidr_block=block,
            availability_zone=zone,
            availability_zone_id=self.availability_zone_id,
            map_public_ip_on_launch=False,
            # the tags by which CDK's own Vpc.from_lookup tells kinds of subnets apart
            tags=[
                cdk.CfnTag(key="Name", value=f"{scope.node.path}/Training"),
                cdk.CfnTag(key="aws-cdk:subnet-name", value="Training"),
                cdk.CfnTag(key="aws-cdk:subnet-type", value=self.internet.subnet_type),
            ],
        )
        if second is not None:
            subnet.node.add_dependency(second)
        if zone is not None:
            acknowledge_named_zone(subnet)
        return subnet

    def _public_block(self) -> str:
        if not known(self.cidr):
            # of a range that is not known, the block next to the training subnet's is sure to be free
            if self.secondary_cidr is not None:
                return _first(self.cidr, PUBLIC_PREFIX)
            return cdk.Fn.select(1, cdk.Fn.cidr(self.cidr, 2, str(32 - self.subnet_mask)))
        return last_block(self.cidr, PUBLIC_PREFIX)

    def _subnet_attributes(self, subnet: str, routes: str, public: PublicSubnet | None) -> dict[str, list[str]]:
        """The subnets as CDK's `Vpc.from_vpc_attributes` takes them."""
        kind = self.internet.subnet_type.lower()
        attributes = {
            f"{kind}_subnet_ids": [subnet],
            f"{kind}_subnet_names": ["Training"],
            f"{kind}_subnet_route_table_ids": [routes],
        }
        if public is not None:
            attributes |= {
                "public_subnet_ids": [public.subnet_id],
                "public_subnet_names": ["Public"],
                "public_subnet_route_table_ids": [public.route_table_id],
            }
        return attributes


def _first(cidr: str, mask: int) -> str:
    if not known(cidr):
        return cdk.Fn.select(0, cdk.Fn.cidr(cidr, 1, str(32 - mask)))
    return first_block(cidr, mask)
