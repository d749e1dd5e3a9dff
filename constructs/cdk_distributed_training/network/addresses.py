"""How many IPv4 addresses training takes in its subnet: plain arithmetic.

Two addresses for each instance, five with EFA: https://docs.aws.amazon.com/sagemaker/latest/dg/train-vpc.html
Five addresses of each subnet are AWS's: https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from cdk_distributed_training.data.tables import InstanceType
from cdk_distributed_training.request.instances import Instances

RESERVED_BY_EC2 = 5
WITHOUT_EFA = 2
WITH_EFA = 5
# network interfaces of file systems and of whatever else lies in the subnet
_OTHERS = 16


def addresses_per_instance(facts: InstanceType | None) -> int:
    """Addresses of one instance; for a type that is not known, as many as the least with EFA."""
    if facts is None:
        return WITH_EFA
    return max(WITH_EFA, facts.efa_interfaces + 1) if facts.efa_interfaces else WITHOUT_EFA


def addresses_needed(instances: Sequence[Instances], *, overlap: int, endpoints: int) -> int:
    """Addresses that a subnet must have free for these instances.

    Args:
        instances: Machines that run at the same time.
        overlap: How many times over they may hold addresses: a job that starts again gets its interfaces before the
            former ones are gone.
        endpoints: Interface endpoints in the subnet.
    """
    nodes = sum(max(_addresses(machines) for machines in job.alternatives) for job in instances)
    return nodes * overlap + endpoints + _OTHERS


def _addresses(machines: Sequence[Instances]) -> int:
    return sum(equal.count * addresses_per_instance(equal.facts) for equal in machines)


def usable_addresses(prefix: int) -> int:
    """Addresses that a subnet of this prefix length has for its interfaces."""
    return int(2 ** (32 - prefix)) - RESERVED_BY_EC2


def prefix_for(needed: int) -> int:
    """Prefix length of the smallest range that has so many usable addresses."""
    return 32 - max((needed + RESERVED_BY_EC2 - 1).bit_length(), 4)


def first_block(cidr: str, prefix: int) -> str:
    """The first block of a range."""
    return str(next(ipaddress.IPv4Network(cidr).subnets(new_prefix=prefix)))


def last_block(cidr: str, prefix: int) -> str:
    """The last block of a range."""
    network = ipaddress.IPv4Network(cidr)
    start = int(network.broadcast_address) + 1 - 2 ** (32 - prefix)
    return f"{ipaddress.IPv4Address(start)}/{prefix}"
