"""Subnets of a template: their zone, their size, and where their routes lead."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cdk_distributed_training.checks.template.graph import Graph, Resource
from cdk_distributed_training.checks.template.values import PartialText, ZoneByIndex, describe, differ, is_undecided
from cdk_distributed_training.checks.template.view import NotJudgedError, View

SUBNET = "AWS::EC2::Subnet"
_WAYS_OUT = (
    "NatGatewayId",
    "NatInstanceId",
    "TransitGatewayId",
    "InstanceId",
    "NetworkInterfaceId",
    "VpcPeeringConnectionId",
    "CarrierGatewayId",
    "LocalGatewayId",
    "CoreNetworkArn",
    "VpcEndpointId",
)


@dataclass(frozen=True)
class Subnet:
    """One subnet that the template makes.

    Attributes:
        resource: The resource.
        graph: The template around it.
    """

    resource: Resource
    graph: Graph

    @property
    def view(self) -> View:
        """Its properties."""
        return View(self.resource.properties.value)

    @property
    def zone(self) -> str | ZoneByIndex:
        """Its availability zone, by name, by id or by index.

        Raises:
            NotJudgedError: It is settled only at deployment.
        """
        zone = self.view.raw("AvailabilityZone") or self.view.raw("AvailabilityZoneId")
        if isinstance(zone, (str, ZoneByIndex)):
            return zone
        if isinstance(zone, PartialText) and len(zone.parts) == 2 and zone.literal_end:
            return zone.literal_end  # ${AWS::Region}a
        raise NotJudgedError(("AvailabilityZone",))

    @property
    def addresses(self) -> int:
        """How many addresses it has to give; five are AWS's own.

        Raises:
            NotJudgedError: Its range is settled only at deployment.
        """
        try:
            network = ipaddress.IPv4Network(self.view.text("CidrBlock") or "")
        except ValueError as error:
            raise NotJudgedError(("CidrBlock",)) from error
        return network.num_addresses - 5

    @property
    def vpc(self) -> Any:
        """The VPC's id as the template writes it."""
        return self.view.raw("VpcId")

    @property
    def route_table(self) -> Any:
        """Id of its route table; None if it has the VPC's main one.

        Raises:
            NotJudgedError: An association that may exist decides.
        """
        for association in self.graph.perhaps_of_type("AWS::EC2::SubnetRouteTableAssociation"):
            subnet = association.properties.raw("SubnetId")
            if is_undecided(subnet):
                raise NotJudgedError(("RouteTableId",))
            if self.graph.target(subnet, SUBNET) is self.resource:
                if not association.exists:
                    raise NotJudgedError(("RouteTableId",))
                return association.properties.raw("RouteTableId")
        return None

    @property
    def routes(self) -> list[Resource]:
        """The routes of its own route table that this template makes.

        Raises:
            NotJudgedError: One may be of this table or of another.
        """
        table = self.route_table
        routes = list(self.graph.perhaps_of_type("AWS::EC2::Route")) if table is not None else []
        if any(differ(route.properties.raw("RouteTableId"), table) is None for route in routes):
            raise NotJudgedError(("RouteTableId",))
        return [route for route in routes if route.properties.raw("RouteTableId") == table]

    @property
    def has_way_out(self) -> bool:
        """Whether a route leads to something that forwards packets of machines without a public address."""
        return any(route.properties.has(key) for route in self.routes for key in _WAYS_OUT)

    @property
    def has_internet_gateway(self) -> bool:
        """Whether a route leads to the internet gateway, which serves only public addresses."""
        return any(route.exists and route.properties.has("GatewayId") for route in self.routes)


def of_ids(graph: Graph, ids: list[Any]) -> Iterator[Subnet]:
    """The subnets that some ids refer to.

    Raises:
        NotJudgedError: One of them is not made by this template.
    """
    for value in ids:
        resource = graph.target(value, SUBNET)
        if resource is None:
            raise NotJudgedError(("Subnets",))
        yield Subnet(resource, graph)


def made_here(graph: Graph, ids: list[Any]) -> list[Subnet]:
    """Those of the subnets that this template makes."""
    resources = (graph.target(value, SUBNET) for value in ids)
    return [Subnet(resource, graph) for resource in resources if resource is not None]


def zone_words(zone: str | ZoneByIndex) -> str:
    """A zone in words; equal zones have equal words."""
    return zone if isinstance(zone, str) else describe(zone)
