"""Rules DT1xx: network and security groups. Pure functions over plain values; tokens never get here."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence

from cdk_distributed_training.checks.findings import Finding, Severity

_SUBNET_SIZES = "https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html"
_TRAIN_VPC = "https://docs.aws.amazon.com/sagemaker/latest/dg/train-vpc.html"


def exclusive(given: Sequence[str], *, why: str, fix: str) -> Iterator[Finding]:
    """DT101: of these properties at most one may be given."""
    if len(given) > 1:
        yield Finding(rule="DT101", prop=" and ".join(given), got="both", allowed=f"one of them: {why}", fix=fix)


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
    if not largest <= mask <= smallest or mask != int(mask):
        yield Finding(
            rule="DT105",
            prop="subnet_mask",
            got=str(mask),
            allowed=f"whole numbers from {largest} (the VPC's own range) to {smallest}",
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


def gateway_endpoint(*, vpc_subnet: str, kind: str) -> Iterator[Finding]:
    """DT112 (warning): a subnet with no way out needs the S3 gateway endpoint on its route table.

    An internet gateway is no way out: SageMaker's network interfaces have no public addresses.

    Args:
        vpc_subnet: Id of the subnet.
        kind: `isolated` or `public`.
    """
    yield Finding(
        rule="DT112",
        prop="vpc",
        got=f"{kind} subnet {vpc_subnet}, whose route table may lack an S3 gateway endpoint",
        allowed=f"{kind} subnets whose route table has one: nodes have no public address, and without it channels and "
        "model artifacts cannot move",
        fix="pass s3_gateway_endpoint=True, or acknowledge this if the endpoint exists",
        severity=Severity.WARNING,
        source=_TRAIN_VPC,
    )


def same_region(prop: str, *, there: str, here: str) -> Iterator[Finding]:
    """DT162: what a job or a file system uses is in its own region.

    Args:
        prop: The property.
        there: Region of what was given.
        here: Region of the job or the file system.
    """
    if there != here:
        yield Finding(
            rule="DT162",
            prop=prop,
            got=f"one that is made in {there}",
            allowed=f"one in {here}, the region of the stack that uses it",
            fix="deploy both to one region, or bring another",
            source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_S3DataSource.html",
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
