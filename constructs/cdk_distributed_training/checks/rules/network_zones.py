"""Rules over the zone of a network (DT102, DT103, DT107, DT150, DT157, DT158). Pure functions over plain values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cdk_distributed_training.checks.findings import Finding, Severity

_ZONES = "https://docs.aws.amazon.com/global-infrastructure/latest/regions/az-ids.html"


_ZONE_NAME = re.compile(r"[a-z]{2,}(-[a-z]+)+-\d+(-[a-z]+-\d+)?[a-z]")
_ZONE_ID = re.compile(r"[a-z]+\d*(-[a-z]+\d+)?-az\d+")


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
