"""What is wrong with a network's properties, before anything is made."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules import network as rules
from cdk_distributed_training.checks.rules import network_ranges, network_zones
from cdk_distributed_training.network.addresses import (
    addresses_needed,
    first_block,
    last_block,
    prefix_for,
    usable_addresses,
)
from cdk_distributed_training.network.own_vpc import PUBLIC_PREFIX
from cdk_distributed_training.request.instances import Instances
from cdk_distributed_training.tokens import known


def zone_findings(name: str | None, identifier: str | None, index: int | None, *, region: str) -> Iterator[Finding]:
    """What is wrong with the zone, however it is given."""
    known_region = region if known(region) else None
    ways = {"availability_zone": name, "availability_zone_id": identifier, "availability_zone_index": index}
    given = [prop for prop, value in ways.items() if value is not None]
    yield from rules.exclusive(given, why="each of them places the subnet", fix="leave the others out")
    if name is not None and known(name):
        yield from network_zones.zone_name(name, region=known_region)
    if identifier is not None and known(identifier):
        yield from network_zones.zone_id(identifier)
        if known_region is not None:
            yield from network_zones.zone_id_region(identifier, region=known_region)


def combination_findings(
    *, existing: bool, only_new: Mapping[str, object], only_existing: Mapping[str, object]
) -> Iterator[Finding]:
    """Properties that say nothing with, or without, an existing VPC."""
    if existing:
        yield from rules.needs_own_vpc([prop for prop, value in only_new.items() if value is not None])
        both = [prop for prop, value in only_existing.items() if value is not None]
        yield from rules.exclusive(both, why="both choose the subnet", fix="leave one out")
    else:
        yield from rules.needs_existing_vpc([prop for prop, value in only_existing.items() if value is not None])


def pointless_findings(*, prefix_list_with_group: bool, log_group_without_log: bool) -> Iterator[Finding]:
    """Properties that another one makes say nothing."""
    if prefix_list_with_group:
        why = "a group that is brought keeps its own rules for what leads out"
        yield from rules.exclusive(["node_security_group", "s3_prefix_list"], why=why, fix="leave s3_prefix_list out")
    if log_group_without_log:
        why = "with flow_log=False nothing is recorded"
        yield from rules.exclusive(["flow_log", "flow_log_group"], why=why, fix="leave flow_log out")


class Ranges(NamedTuple):
    """The IPv4 ranges of a new VPC, and what the subnet has to hold.

    Attributes:
        cidr: The VPC's range.
        secondary_cidr: Its second range, from which the subnet then comes.
        subnet_mask: Prefix length of the subnet, None to find one.
        needed: Addresses that the subnet must have; 0 if nothing says it.
        public_subnet: Whether a NAT gateway needs room.
    """

    cidr: str
    secondary_cidr: str | None
    subnet_mask: int | None
    needed: int
    public_subnet: bool

    def settle(self) -> int:
        """The subnet's prefix length: half of its range, or all of it if the instances need that much.

        It is never less than half: a subnet's range cannot be changed, and file systems live in it.
        """
        if self.subnet_mask is not None:
            return self.subnet_mask
        half = min(self._range_prefix() + 1, 28)
        return half if self.needed <= usable_addresses(half) or self._shares_range() else self._range_prefix()

    def findings(self) -> Iterator[Finding]:
        """What is wrong with them."""
        wrong = []
        for prop, cidr in (("cidr", self.cidr), ("secondary_cidr", self.secondary_cidr)):
            if cidr is not None and known(cidr):
                wrong += list(rules.vpc_cidr(cidr, prop=prop))
        settled = known(self._range())
        if not known(self.subnet_mask):
            wrong += list(rules.subnet_mask_is_known())
        elif self.subnet_mask is not None:
            prefix = self._range_prefix() if settled and not wrong else None
            wrong += list(rules.subnet_mask(self.subnet_mask, vpc_prefix=prefix))
        yield from wrong
        if not wrong and known((self.cidr, self._range())):
            yield from self._size_findings(self.settle())

    def _size_findings(self, mask: int) -> Iterator[Finding]:
        if self.secondary_cidr is not None:
            yield from network_ranges.secondary_cidr(self.secondary_cidr, primary=self.cidr)
        elif self.public_subnet:
            training, public = first_block(self.cidr, mask), last_block(self.cidr, PUBLIC_PREFIX)
            yield from network_ranges.room_for_public_subnet(training, public=public)
        yield from network_ranges.enough_addresses(
            needed=self.needed,
            usable=usable_addresses(mask),
            prefix=prefix_for(self.needed),
            prop="cidr" if self.subnet_mask is None else "subnet_mask",
        )

    def _range(self) -> str:
        return self.secondary_cidr or self.cidr

    def _shares_range(self) -> bool:
        return self.public_subnet and self.secondary_cidr is None

    def _range_prefix(self) -> int:
        # of a range that is not known, the usual one is assumed
        return ipaddress.IPv4Network(self._range()).prefixlen if known(self._range()) else 16


def addresses_of(instances: Sequence[Instances] | None, *, overlap: int, endpoints: int) -> int:
    """Addresses that the instances take, as far as their counts are known; 0 without instances.

    Nor are they counted for an overlap that is refused anyway.
    """
    if not float(overlap).is_integer():
        return 0
    counted = [group for group in instances or () if known(group.count)]
    return addresses_needed(counted, overlap=overlap, endpoints=endpoints) if counted else 0
