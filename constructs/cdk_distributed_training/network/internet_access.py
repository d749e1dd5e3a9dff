"""How the nodes in a new VPC reach the internet, if at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from cdk_distributed_training.checks.acknowledgements import acknowledge
from cdk_distributed_training.network.named_zone import acknowledge_named_zone

ANYWHERE = "0.0.0.0/0"


class VpcParts(NamedTuple):
    """What a way to the internet is made of: the VPC, its private route table, and where a public subnet may lie.

    Attributes:
        vpc_id: The VPC.
        private_routes_id: Route table of the training subnet.
        public_block: Range for a public subnet; empty if there is none.
        availability_zone: Zone by name, None if it is given by id.
        availability_zone_id: Zone by id.
    """

    vpc_id: str
    private_routes_id: str
    public_block: str
    availability_zone: str | None
    availability_zone_id: str | None


class PublicSubnet(NamedTuple):
    """A subnet with a route to an internet gateway.

    Attributes:
        subnet_id: Its id.
        route_table_id: Its route table.
    """

    subnet_id: str
    route_table_id: str


class InternetAccess:
    """How the nodes in a new VPC reach the internet; `none`, `nat_gateway` and `through` make one.

    Nothing ever reaches the nodes from the internet. On an existing VPC the subnet's own routes decide.
    """

    needs_public_subnet = False
    """Whether a range for a public subnet must be kept free."""

    @staticmethod
    def none() -> InternetAccess:
        """No way at all: the subnet is isolated, and endpoints lead to AWS services.

        What a training script downloads elsewhere, such as packages or models, must then come in the image or in a
        channel.
        """
        return _None()

    @staticmethod
    def nat_gateway(*, elastic_ip_allocation_id: str | None = None) -> InternetAccess:
        """A NAT gateway, in a small public subnet of the same zone.

        Args:
            elastic_ip_allocation_id: The public address from which the nodes' traffic comes; by default a new one.
        """
        return _NatGateway(elastic_ip_allocation_id)

    @staticmethod
    def through(router_type: ec2.RouterType, router_id: str) -> InternetAccess:
        """A router that exists: a transit gateway, a NAT gateway, a firewall's endpoint.

        Args:
            router_type: What it is.
            router_id: Its id.
        """
        return _Router(router_type, router_id)

    def connect(self, scope: Construct, parts: VpcParts) -> PublicSubnet | None:
        """Create the way in `scope`; gives the public subnet if there is one."""
        raise NotImplementedError

    @property
    def subnet_type(self) -> str:
        """CDK's word for the kind of the training subnet, which its tags say."""
        return "Private"


class _None(InternetAccess):
    subnet_type = "Isolated"

    def connect(self, scope: Construct, parts: VpcParts) -> PublicSubnet | None:
        return None


@dataclass(frozen=True)
class _Router(InternetAccess):
    router_type: ec2.RouterType
    router_id: str

    def connect(self, scope: Construct, parts: VpcParts) -> PublicSubnet | None:
        prop = _ROUTE_PROPERTIES[self.router_type]
        ec2.CfnRoute(
            scope,
            "InternetRoute",
            route_table_id=parts.private_routes_id,
            destination_cidr_block=ANYWHERE,
            **{prop: self.router_id},
        )
        return None


@dataclass(frozen=True)
class _NatGateway(InternetAccess):
    elastic_ip_allocation_id: str | None

    needs_public_subnet = True

    def connect(self, scope: Construct, parts: VpcParts) -> PublicSubnet | None:
        name = f"{scope.node.path}/Public"
        subnet = ec2.CfnSubnet(
            scope,
            "PublicSubnet",
            vpc_id=parts.vpc_id,
            cidr_block=parts.public_block,
            availability_zone=parts.availability_zone,
            availability_zone_id=parts.availability_zone_id,
            map_public_ip_on_launch=False,
            tags=[
                cdk.CfnTag(key="Name", value=name),
                cdk.CfnTag(key="aws-cdk:subnet-name", value="Public"),
                cdk.CfnTag(key="aws-cdk:subnet-type", value="Public"),
            ],
        )
        if parts.availability_zone is not None:
            acknowledge_named_zone(subnet)
        routes = ec2.CfnRouteTable(
            scope, "PublicRouteTable", vpc_id=parts.vpc_id, tags=[cdk.CfnTag(key="Name", value=name)]
        )
        association = ec2.CfnSubnetRouteTableAssociation(
            scope, "PublicRouteTableAssociation", route_table_id=routes.ref, subnet_id=subnet.ref
        )
        gateway = ec2.CfnInternetGateway(scope, "InternetGateway", tags=[cdk.CfnTag(key="Name", value=scope.node.path)])
        attachment = ec2.CfnVPCGatewayAttachment(
            scope, "InternetGatewayAttachment", vpc_id=parts.vpc_id, internet_gateway_id=gateway.ref
        )
        public_route = ec2.CfnRoute(
            scope,
            "PublicRoute",
            route_table_id=routes.ref,
            destination_cidr_block=ANYWHERE,
            gateway_id=gateway.ref,
        )
        public_route.node.add_dependency(attachment)
        for pack in ("NIST.800.53.R5", "HIPAA.Security", "PCI.DSS.321"):
            acknowledge(
                public_route,
                f"{pack}-VPCNoUnrestrictedRouteToIGW",
                "Only the NAT gateway that was asked for lies in this subnet; nothing in it accepts connections.",
            )
        nat = ec2.CfnNatGateway(
            scope,
            "NatGateway",
            subnet_id=subnet.ref,
            allocation_id=self.elastic_ip_allocation_id or self._new_address(scope, attachment),
            tags=[cdk.CfnTag(key="Name", value=scope.node.path)],
        )
        nat.node.add_dependency(public_route, association)
        _Router(ec2.RouterType.NAT_GATEWAY, nat.ref).connect(scope, parts)
        return PublicSubnet(subnet.ref, routes.ref)

    def _new_address(self, scope: Construct, attachment: ec2.CfnVPCGatewayAttachment) -> str:
        address = ec2.CfnEIP(scope, "NatAddress", domain="vpc", tags=[cdk.CfnTag(key="Name", value=scope.node.path)])
        address.node.add_dependency(attachment)
        return address.attr_allocation_id


# the property of AWS::EC2::Route that names each kind of router
_ROUTE_PROPERTIES = {
    ec2.RouterType.CARRIER_GATEWAY: "carrier_gateway_id",
    ec2.RouterType.CORE_NETWORK: "core_network_arn",
    ec2.RouterType.EGRESS_ONLY_INTERNET_GATEWAY: "egress_only_internet_gateway_id",
    ec2.RouterType.GATEWAY: "gateway_id",
    ec2.RouterType.INSTANCE: "instance_id",
    ec2.RouterType.LOCAL_GATEWAY: "local_gateway_id",
    ec2.RouterType.NAT_GATEWAY: "nat_gateway_id",
    ec2.RouterType.NETWORK_INTERFACE: "network_interface_id",
    ec2.RouterType.TRANSIT_GATEWAY: "transit_gateway_id",
    ec2.RouterType.VPC_ENDPOINT: "vpc_endpoint_id",
    ec2.RouterType.VPC_PEERING_CONNECTION: "vpc_peering_connection_id",
}
