"""Which hosts try to reach which: cheap for thousands of hosts, and still every host in both directions."""

from __future__ import annotations

from collections.abc import Sequence


def targets(world: Sequence[str], host: str) -> list[str]:
    """The hosts that a host tries to reach.

    The leader tries every member and every member the leader; among themselves the members stand in a ring and try
    both neighbours.

    Args:
        world: Hosts that run ranks, the leader first.
        host: One of them.
    """
    leader, members = world[0], world[1:]
    if host == leader:
        return list(members)
    place = members.index(host)
    neighbours = {members[place - 1], members[(place + 1) % len(members)]} - {host}
    return [leader, *sorted(neighbours)]
