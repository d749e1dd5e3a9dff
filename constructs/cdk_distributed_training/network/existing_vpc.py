"""Finds the one subnet for training on a VPC that somebody else made."""

from __future__ import annotations

from aws_cdk import aws_ec2 as ec2

from cdk_distributed_training.checks.findings import raise_errors
from cdk_distributed_training.checks.rules import network as rules
from cdk_distributed_training.checks.rules import network_zones
from cdk_distributed_training.checks.rules.keywords import unsettled_list
from cdk_distributed_training.network.placement import Placement
from cdk_distributed_training.tokens import known

PENDING_ZONES = ("dummy1a", "dummy1b", "dummy1c")  # what CDK answers until a lookup has run


def place_on(
    vpc: ec2.IVpc,
    *,
    subnet: ec2.ISubnet | None,
    vpc_subnets: ec2.SubnetSelection | None,
    availability_zone: str | None,
    availability_zone_id: str | None = None,
    availability_zone_index: int | None = None,
    where: str,
) -> Placement:
    """Find the VPC's one subnet for training: the given one, else the first of those that the arguments leave.

    Args:
        vpc: The VPC.
        subnet: The subnet, if the caller knows it.
        vpc_subnets: Which subnets to choose from. By default the private ones, then the isolated ones.
        availability_zone: Zone to choose in; what `subnet` lies in if that cannot say so itself.
        availability_zone_id: Id of the zone of the one subnet that is left.
        availability_zone_index: Which of the zones of the subnets to choose from, in their order.
        where: Construct path for errors.

    Raises:
        ConfigurationError: No subnet is left, or the given subnet lies in another zone.
    """
    if subnet is None:
        candidates = _candidates(vpc, vpc_subnets, where)
        subnet = _stand_in(vpc, candidates)
        if subnet is None:
            if availability_zone_index is not None:
                availability_zone = _zone_at(availability_zone_index, candidates, where)
            if availability_zone_id is not None:
                raise_errors(network_zones.zone_id_on_vpc(subnets=len(candidates)), where=where)
            subnet = _first(candidates, availability_zone, vpc_subnets, where)
        raise_errors(unsettled_list("vpc", [subnet.subnet_id]), where=where)
        return Placement(
            vpc,
            subnet,
            zone_of(subnet),
            cidr_of(vpc),
            availability_zone_id=availability_zone_id,
            subnet_cidr=range_of(subnet),
        )
    raise_errors(unsettled_list("subnet", [subnet.subnet_id]), where=where)
    zone = zone_of(subnet)
    if zone is None:
        zone = availability_zone
    elif availability_zone is not None and zone not in PENDING_ZONES and known((zone, availability_zone)):
        raise_errors(network_zones.same_zone(asked=availability_zone, subnet=zone), where=where)
    return Placement(
        vpc, subnet, zone, cidr_of(vpc), availability_zone_id=availability_zone_id, subnet_cidr=range_of(subnet)
    )


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


def range_of(subnet: ec2.ISubnet) -> str | None:
    """The subnet's IPv4 range, None if it is not known before deployment."""
    try:
        block = subnet.ipv4_cidr_block
    except RuntimeError:  # how CDK says that an imported subnet does not know
        return None
    return block if known(block) else None


def route_table_of(subnet: ec2.ISubnet) -> str | None:
    """Id of the subnet's route table, None if it was imported without it."""
    try:
        identifier = subnet.route_table.route_table_id
    except RuntimeError:  # how CDK says that an imported subnet does not know
        return None
    return identifier or None


def _stand_in(vpc: ec2.IVpc, candidates: list[ec2.ISubnet]) -> ec2.ISubnet | None:
    """Any subnet while a lookup has not run: no choice fits CDK's stand-ins, and a synthesis that fails runs none."""
    if not any(zone in PENDING_ZONES for zone in vpc.availability_zones):
        return None
    stand_ins = [*candidates, *vpc.private_subnets, *vpc.isolated_subnets, *vpc.public_subnets]
    return stand_ins[0] if stand_ins else None


def _candidates(vpc: ec2.IVpc, selection: ec2.SubnetSelection | None, where: str) -> list[ec2.ISubnet]:
    if selection is None:
        return [*vpc.private_subnets, *vpc.isolated_subnets]
    try:
        chosen = vpc.select_subnets(
            availability_zones=selection.availability_zones,
            one_per_az=selection.one_per_az,
            subnet_filters=selection.subnet_filters,
            subnet_group_name=selection.subnet_group_name,
            subnets=selection.subnets,
            subnet_type=selection.subnet_type,
        )
    except RuntimeError as error:  # how CDK says that there is no such subnet
        said = _selection_in_words(selection) or str(error).strip().splitlines()[0]
        raise_errors(rules.selection_failed(said, offered=_kinds_of(vpc)), where=where)
        raise
    return list(chosen.subnets)


def _selection_in_words(selection: ec2.SubnetSelection) -> str:
    given = {"subnet_type": selection.subnet_type, "subnet_group_name": selection.subnet_group_name}
    return ", ".join(f"{prop}={value}" for prop, value in given.items() if value is not None)


def _kinds_of(vpc: ec2.IVpc) -> list[str]:
    kinds = {
        "PRIVATE_WITH_EGRESS": vpc.private_subnets,
        "PRIVATE_ISOLATED": vpc.isolated_subnets,
        "PUBLIC": vpc.public_subnets,
    }
    return [f"SubnetType.{kind}" for kind, subnets in kinds.items() if subnets]


def _zone_at(index: int, candidates: list[ec2.ISubnet], where: str) -> str:
    zones = list(dict.fromkeys(zone for zone in map(zone_of, candidates) if zone is not None))
    raise_errors(network_zones.zone_of_index(index, zones=[_said(zone) for zone in zones]), where=where)
    return zones[index]


def _said(zone: str | None) -> str:
    return str(zone) if known(zone) else "(only known when deployed)"


def _first(
    candidates: list[ec2.ISubnet], wanted: str | None, selection: ec2.SubnetSelection | None, where: str
) -> ec2.ISubnet:
    zones = [zone_of(candidate) for candidate in candidates]
    left = [
        candidate
        for candidate, zone in zip(candidates, zones, strict=True)
        if wanted is None or zone == wanted or (len(candidates) == 1 and (zone is None or not known(zone)))
    ]
    prop = "availability_zone" if wanted is not None else "vpc_subnets" if selection is not None else "vpc"
    said = [_said(zone) for zone in zones]
    raise_errors(rules.one_subnet([one.subnet_id for one in left], zones=said, wanted=wanted, prop=prop), where=where)
    return left[0]
