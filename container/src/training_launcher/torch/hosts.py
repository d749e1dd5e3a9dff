"""Which ranks of a group share a host; torch-free."""

from __future__ import annotations

import os
import socket
from typing import Dict, List, Sequence


def host_name() -> str:
    """Name of this host in the job: SageMaker's (`algo-1`), else the machine's."""
    return os.environ.get("SM_CURRENT_HOST") or socket.gethostname()


def ranks_by_host(names: Sequence[str], ranks: Sequence[int]) -> List[List[int]]:
    """The ranks of each host, hosts in the order of their first rank; hosts may differ in their number of ranks.

    Args:
        names: Host name of each member of the group.
        ranks: Global rank of each member of the group, in the same order.
    """
    hosts: Dict[str, List[int]] = {}
    for name, rank in zip(names, ranks):  # noqa: B905  Python 3.9 has no `strict`
        hosts.setdefault(name, []).append(rank)
    return sorted((sorted(members) for members in hosts.values()), key=lambda members: members[0])
