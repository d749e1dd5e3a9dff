"""Rules over the IPv4 ranges of a training network (DT151 to DT153). Pure functions; tokens never get here."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence

from cdk_distributed_training.checks.findings import Finding

_TRAIN_VPC = "https://docs.aws.amazon.com/sagemaker/latest/dg/train-vpc.html"
_RANGES = "https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html"


def enough_addresses(*, needed: int, usable: int, prefix: int, prop: str) -> Iterator[Finding]:
    """DT151: the subnet has an address for every interface of the instances.

    Args:
        needed: Addresses that the instances and all else in the subnet take.
        usable: Addresses that it has.
        prefix: Prefix length of a subnet that would do.
        prop: The property that settles the size.
    """
    if needed > usable:
        yield Finding(
            rule="DT151",
            prop=prop,
            got=f"a subnet of {usable:,} usable addresses",
            allowed=f"at least {needed:,}: 2 for each instance; with EFA one more than its interfaces, at least 5",
            fix=f"give the subnet a prefix length of at most {prefix}; the range of a subnet can never be changed"
            + ("" if prefix >= 16 else ", and a VPC's range ends at /16: split the instances over two networks"),
            source=_TRAIN_VPC,
        )


def secondary_cidr(cidr: str, *, primary: str) -> Iterator[Finding]:
    """DT152: a VPC's second range shares no address with the first."""
    if ipaddress.IPv4Network(cidr).overlaps(ipaddress.IPv4Network(primary)):
        yield Finding(
            rule="DT152",
            prop="secondary_cidr",
            got=f"{cidr!r} next to {primary!r}",
            allowed="ranges that share no address",
            fix="choose another one, such as '100.64.0.0/16'",
            source=_RANGES,
        )


def room_for_public_subnet(training: str, *, public: str) -> Iterator[Finding]:
    """DT153: a NAT gateway needs a subnet of its own beside the training subnet."""
    if ipaddress.IPv4Network(training).overlaps(ipaddress.IPv4Network(public)):
        yield Finding(
            rule="DT153",
            prop="subnet_mask",
            got=f"a training subnet {training} that takes the whole range",
            allowed=f"one that leaves {public} free for the NAT gateway",
            fix="choose a longer prefix for the subnet, a larger cidr, or a secondary_cidr",
            source=_RANGES,
        )


def positive(values: Sequence[tuple[str, int]]) -> Iterator[Finding]:
    """DT159: counts begin at one."""
    for prop, value in values:
        if not (value >= 1 and float(value).is_integer()):
            allowed = "a whole number of at least 1, known when the app is synthesized"
            yield Finding(rule="DT159", prop=prop, got=str(value), allowed=allowed, fix="leave it out")
