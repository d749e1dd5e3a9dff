"""Rules DT1xx: network and security groups. Pure functions over plain values; tokens never get here."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Sequence

from cdk_distributed_training.checks.findings import Finding, Severity

_SUBNET_SIZES = "https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html"
_ZONES = "https://docs.aws.amazon.com/global-infrastructure/latest/regions/az-ids.html"
_EFA_GROUPS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html#efa-start-security"
_VPC_CONFIG = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_VpcConfig.html"
_TRAIN_VPC = "https://docs.aws.amazon.com/sagemaker/latest/dg/train-vpc.html"

RULES_PER_GROUP = 60

_ZONE_NAME = re.compile(r"[a-z]{2,}(-[a-z]+)+-\d+(-[a-z]+-\d+)?[a-z]")
_ZONE_ID = re.compile(r"[a-z]+\d*(-[a-z]+\d+)?-az\d+")


def exclusive(given: Sequence[str], *, why: str, fix: str) -> Iterator[Finding]:
    """DT101: of these properties at most one may be given."""
    if len(given) > 1:
        yield Finding(rule="DT101", prop=" and ".join(given), got="both", allowed=f"one of them: {why}", fix=fix)


def zone_name(name: str, *, region: str | None) -> Iterator[Finding]:
    """DT102: a zone's name is not its id, and begins with the stack's region where that is known."""
    if _ZONE_ID.fullmatch(name) and not _ZONE_NAME.fullmatch(name):
        yield Finding(
            rule="DT102",
            prop="availability_zone",
            got=f"{name!r}, which is a zone id",
            allowed="a zone name such as 'us-east-1d'",
            fix="pass it as availability_zone_id",
            source=_ZONES,
        )
    elif region is not None and _ZONE_NAME.fullmatch(name) and not name.startswith(region):
        yield Finding(
            rule="DT102",
            prop="availability_zone",
            got=repr(name),
            allowed=f"a zone of the stack's region {region}",
            fix="name a zone of that region, or deploy the stack to the zone's region",
            source=_ZONES,
        )


def zone_id(identifier: str) -> Iterator[Finding]:
    """DT103: a zone's id is not its name."""
    if not _ZONE_ID.fullmatch(identifier):
        named = _ZONE_NAME.fullmatch(identifier)
        yield Finding(
            rule="DT103",
            prop="availability_zone_id",
            got=f"{identifier!r}, which is a zone name" if named else repr(identifier),
            allowed="a zone id such as 'use1-az4', the same for every account",
            fix="pass it as availability_zone" if named else "read the id with `aws ec2 describe-availability-zones`",
            source=_ZONES,
        )


def zone_id_region(identifier: str, *, region: str) -> Iterator[Finding]:
    """DT103: a zone's id begins with the short name of the stack's region."""
    first, *middle, number = region.split("-")
    if "iso" in first or "iso" in "".join(middle) or not number.isdigit():
        return  # their short names follow no rule that is published
    words = [*middle[:-1], *re.findall("north|south|east|west|central", middle[-1])]
    short = f"{first}{''.join(word[0] for word in words)}{number}-"
    if _ZONE_ID.fullmatch(identifier) and not identifier.startswith(short):
        yield Finding(
            rule="DT103",
            prop="availability_zone_id",
            got=repr(identifier),
            allowed=f"a zone of the stack's region {region}, such as '{short}az1'",
            fix="name a zone of that region, or deploy the stack to the zone's region",
            source=_ZONES,
        )


def zone_index(index: int, *, region: str | None) -> Iterator[Finding]:
    """DT150: every region has two zones; whether it has more is only sure when the region is."""
    if index < 0 or (index > 1 and region is None):
        yield Finding(
            rule="DT150",
            prop="availability_zone_index",
            got=f"{index}, in a stack that may be deployed to any region" if index > 1 else str(index),
            allowed="0 or 1, or a higher one in a stack that names its region",
            fix="give the stack env=Environment(region=...), or choose 0 or 1",
            source=_ZONES,
        )
    elif index > 2:
        yield Finding(
            rule="DT150",
            prop="availability_zone_index",
            got=f"{index} in {region}",
            allowed="0 to 2: most regions show three zones to an account",
            fix="check the region's zones with `aws ec2 describe-availability-zones`, or name the zone",
            severity=Severity.WARNING,
            source=_ZONES,
        )


def zone_of_index(index: int, *, zones: Sequence[str]) -> Iterator[Finding]:
    """DT157: the existing VPC has so many zones with subnets to choose from."""
    if not 0 <= index < len(zones):
        yield Finding(
            rule="DT157",
            prop="availability_zone_index",
            got=str(index),
            allowed=f"below {len(zones)}: the VPC's subnets to choose from lie in {', '.join(zones) or 'no zone'}",
            fix="choose a lower index, or pass subnet=",
        )


def zone_id_on_vpc(*, subnets: int) -> Iterator[Finding]:
    """DT158: no subnet says its zone's id, so an id cannot choose among several."""
    if subnets > 1:
        yield Finding(
            rule="DT158",
            prop="availability_zone_id",
            got=f"an id, and {subnets} subnets to choose from",
            allowed="an id next to the one subnet that lies there: CDK knows zones of existing subnets by name only",
            fix="pass the subnet of that zone as subnet",
            source=_ZONES,
        )


def vpc_cidr(cidr: str, *, prop: str = "cidr") -> Iterator[Finding]:
    """DT104: a VPC's range is a proper IPv4 network from /16 to /28."""
    try:
        network = ipaddress.IPv4Network(cidr)
    except ValueError as error:
        yield Finding(
            rule="DT104",
            prop=prop,
            got=f"{cidr!r} ({error})",
            allowed="an IPv4 range such as '10.0.0.0/16'",
            fix="write the range's first address and its prefix length",
            source=_SUBNET_SIZES,
        )
        return
    if not 16 <= network.prefixlen <= 28:
        yield Finding(
            rule="DT104",
            prop=prop,
            got=repr(cidr),
            allowed="a prefix length from /16 to /28",
            fix="choose a range of at most 65,536 addresses",
            source=_SUBNET_SIZES,
        )


def subnet_mask(mask: int, *, vpc_prefix: int | None) -> Iterator[Finding]:
    """DT105: the subnet fits into the VPC's range and is no smaller than EC2 allows."""
    smallest, largest = 28, vpc_prefix if vpc_prefix is not None else 16
    if not largest <= mask <= smallest:
        yield Finding(
            rule="DT105",
            prop="subnet_mask",
            got=str(mask),
            allowed=f"from {largest} (the VPC's own range) to {smallest}",
            fix="choose the prefix length by the number of nodes: EFA nodes need at least 5 addresses each",
            source=_TRAIN_VPC,
        )


def subnet_mask_is_known() -> Iterator[Finding]:
    """DT105: CloudFormation cannot reckon with a prefix length that is given at deployment."""
    yield Finding(
        rule="DT105",
        prop="subnet_mask",
        got="a value that is only known when deployed",
        allowed="a number such as 20",
        fix="pass a number; cidr may be a token",
        source="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-cidr.html",
    )


def one_subnet(candidates: Sequence[str], *, zones: Sequence[str], wanted: str | None, prop: str) -> Iterator[Finding]:
    """DT106: a selection on an existing VPC must leave a subnet.

    Args:
        candidates: Ids of the subnets that are left.
        zones: The zones of the subnets that the VPC has to offer.
        wanted: The zone that was asked for.
        prop: The property that selects.
    """
    if not candidates:
        offered = ", ".join(sorted(set(zones))) or "none: the VPC was given no private or isolated subnet"
        yield Finding(
            rule="DT106",
            prop=prop,
            got=repr(wanted) if wanted is not None else "no subnet",
            allowed=f"a zone in which the VPC has a subnet: {offered}",
            fix="pass subnet=, or vpc_subnets= and availability_zone= that select one",
            source=_TRAIN_VPC,
        )


def selection_failed(message: str, *, offered: Sequence[str]) -> Iterator[Finding]:
    """DT106: the VPC has no subnet of the kind that was asked for."""
    yield Finding(
        rule="DT106",
        prop="vpc_subnets",
        got=message,
        allowed=f"what the VPC has: {', '.join(offered) or 'no subnets at all'}",
        fix="select one of these, or pass subnet=",
        source=_TRAIN_VPC,
    )


def same_zone(*, asked: str, subnet: str) -> Iterator[Finding]:
    """DT107: the given subnet lies in the given zone."""
    if asked != subnet:
        yield Finding(
            rule="DT107",
            prop="availability_zone",
            got=repr(asked),
            allowed=f"{subnet!r}, the zone of the given subnet",
            fix="leave availability_zone out, or give a subnet of that zone",
        )


def security_group_count(count: int) -> Iterator[Finding]:
    """DT108: SageMaker attaches at most five groups to a job."""
    if count > 5:
        yield Finding(
            rule="DT108",
            prop="additional_security_groups",
            got=f"{count - 1} besides the node security group",
            allowed="at most 4",
            fix="merge some of them",
            source=_VPC_CONFIG,
        )


def some_security_group(count: int) -> Iterator[Finding]:
    """DT108: SageMaker attaches at least one group to a job in a VPC."""
    if count < 1:
        yield Finding(
            rule="DT108",
            prop="security_group_ids",
            got="none",
            allowed="1 to 5 ids",
            fix="pass the group that is open to itself first",
            source=_VPC_CONFIG,
        )


def unchangeable_group(openings: Sequence[str], *, prop: str) -> Iterator[Finding]:
    """DT109 (warning): an imported group that must not be changed needs these rules from its owner."""
    if openings:
        yield Finding(
            rule="DT109",
            prop=prop,
            got="a security group imported with mutable=False, so no rule was added to it",
            allowed="; ".join(openings),
            fix="add these rules, by security group id and not by address range, where the group is defined",
            severity=Severity.WARNING,
            source=_EFA_GROUPS,
        )


def needs_own_vpc(given: Sequence[str]) -> Iterator[Finding]:
    """DT110: properties that describe a new VPC say nothing about an existing one."""
    for prop in given:
        yield Finding(
            rule="DT110",
            prop=prop,
            got="a value next to vpc=",
            allowed="only without vpc=: it describes the VPC that would be created",
            fix=f"leave out {prop}, or leave out vpc",
        )


def needs_existing_vpc(given: Sequence[str]) -> Iterator[Finding]:
    """DT111: a subnet can be chosen only on an existing VPC."""
    for prop in given:
        yield Finding(
            rule="DT111",
            prop=prop,
            got="a value without vpc=",
            allowed="only with vpc=: a new VPC gets a subnet of its own",
            fix=f"pass the VPC as vpc, or leave out {prop}",
        )


def allow_all_may_go(group: str, *, prop: str = "node_security_group") -> Iterator[Finding]:
    """DT113 (warning): CloudFormation takes an allow-all egress away from a group to which it adds an egress rule."""
    yield Finding(
        rule="DT113",
        prop=prop,
        got=f"{group}, which may allow all traffic to 0.0.0.0/0 and now gets egress rules of its own",
        allowed="a group that names what may go out: CloudFormation removes an allow-all rule when it adds another",
        fix="give the group an egress rule for tcp 443 where it is defined, or import it with mutable=False",
        severity=Severity.WARNING,
        source="https://github.com/aws/aws-cdk/issues/22140",
    )


def gateway_endpoint(*, vpc_subnet: str) -> Iterator[Finding]:
    """DT112 (warning): a subnet with no way out needs the S3 gateway endpoint on its route table."""
    yield Finding(
        rule="DT112",
        prop="vpc",
        got=f"isolated subnet {vpc_subnet}, whose route table may lack an S3 gateway endpoint",
        allowed="an isolated subnet whose route table has one: without it, channels and model artifacts cannot move",
        fix="pass s3_gateway_endpoint=True, or acknowledge this if the endpoint exists",
        severity=Severity.WARNING,
        source=_TRAIN_VPC,
    )


def endpoint_route_table(subnet: str) -> Iterator[Finding]:
    """DT156: a gateway endpoint is a route, and takes the subnet's route table."""
    yield Finding(
        rule="DT156",
        prop="s3_gateway_endpoint",
        got=f"True, with subnet {subnet}, whose route table is not known",
        allowed="True with a subnet that knows its route table",
        fix="import the subnet with route_table_id, or leave this out if the route table has an S3 endpoint",
        source="https://docs.aws.amazon.com/vpc/latest/privatelink/vpc-endpoints-s3.html",
    )


def made_twice(what: str, *, prop: str, first: str) -> Iterator[Finding]:
    """DT155: EC2 makes some things once for each VPC or route table only.

    Args:
        what: The thing.
        prop: The property that asks for it.
        first: Path of the construct that made it.
    """
    yield Finding(
        rule="DT155",
        prop=prop,
        got=f"{what}, which {first} makes already",
        allowed="one of them",
        fix="use one TrainingNetwork for all jobs, or leave it out here",
        source="https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html",
    )


def rules_per_group(count: int, *, group: str) -> Iterator[Finding]:
    """DT154 (warning): a group has at most 60 rules in each direction, unless the quota was raised."""
    if count > RULES_PER_GROUP:
        yield Finding(
            rule="DT154",
            prop="node_security_group",
            got=f"{count} rules for {group}",
            allowed="60 in each direction, unless the account's quota was raised",
            fix="give file systems one security_group in common, or raise the quota L-0EA8095F",
            severity=Severity.WARNING,
            source="https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html",
        )
