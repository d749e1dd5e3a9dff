"""Finds the one subnet for training on a VPC that somebody else made."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2

from cdk_distributed_training.checks.findings import raise_errors
from cdk_distributed_training.checks.rules import network as rules
from cdk_distributed_training.network.placement import Placement

PENDING_ZONES = ("dummy1a", "dummy1b", "dummy1c")  # what CDK answers until a lookup has run


def place_on(
    vpc: ec2.IVpc,
    *,
    subnet: ec2.ISubnet | None,
    vpc_subnets: ec2.SubnetSelection | None,
    availability_zone: str | None,
    where: str,
) -> Placement:
    """Find the VPC's one subnet for training: the given one, else the first of those that the arguments leave.

    Args:
        vpc: The VPC.
        subnet: The subnet, if the caller knows it.
        vpc_subnets: Which subnets to choose from. By default the private ones, then the isolated ones.
        availability_zone: Zone to choose in; what `subnet` lies in if that cannot say so itself.
        where: Construct path for errors.

    Raises:
        ConfigurationError: No subnet is left, or the given subnet lies in another zone.
    """
    if subnet is None:
        subnet = _first(_candidates(vpc, vpc_subnets), availability_zone, vpc_subnets, where)
        return Placement(vpc, subnet, zone_of(subnet), cidr_of(vpc))
    zone = zone_of(subnet)
    if zone is None:
        zone = availability_zone
    elif availability_zone is not None and not cdk.Token.is_unresolved([zone, availability_zone]):
        raise_errors(rules.same_zone(asked=availability_zone, subnet=zone), where=where)
    return Placement(vpc, subnet, zone, cidr_of(vpc))


def zone_of(subnet: ec2.ISubnet) -> str | None:
    """The subnet's zone, None if it was imported by its id alone."""
    try:
        return subnet.availability_zone
    except RuntimeError:  # how CDK says that an imported subnet does not know
        return None


def cidr_of(vpc: ec2.IVpc) -> str | None:
    """The VPC's IPv4 range, None if it was imported without it."""
    try:
        return vpc.vpc_cidr_block
    except RuntimeError:  # how CDK says that an imported VPC does not know
        return None


def _candidates(vpc: ec2.IVpc, selection: ec2.SubnetSelection | None) -> list[ec2.ISubnet]:
    if selection is not None:
        chosen = vpc.select_subnets(
            availability_zones=selection.availability_zones,
            one_per_az=selection.one_per_az,
            subnet_filters=selection.subnet_filters,
            subnet_group_name=selection.subnet_group_name,
            subnets=selection.subnets,
            subnet_type=selection.subnet_type,
        )
        return list(chosen.subnets)
    return [*vpc.private_subnets, *vpc.isolated_subnets]


def _first(
    candidates: list[ec2.ISubnet], wanted: str | None, selection: ec2.SubnetSelection | None, where: str
) -> ec2.ISubnet:
    zones = [zone_of(candidate) for candidate in candidates]
    left = [
        candidate
        for candidate, zone in zip(candidates, zones, strict=True)
        if wanted is None
        or zone == wanted
        or zone in PENDING_ZONES
        or (len(candidates) == 1 and (zone is None or cdk.Token.is_unresolved(zone)))
    ]
    prop = "availability_zone" if wanted is not None else "vpc_subnets" if selection is not None else "vpc"
    known = ["(only known when deployed)" if cdk.Token.is_unresolved(zone) else str(zone) for zone in zones]
    raise_errors(rules.one_subnet([one.subnet_id for one in left], zones=known, wanted=wanted, prop=prop), where=where)
    return left[0]
