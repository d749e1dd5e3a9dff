"""The launcher with 2,048 hosts, simulated: the control channel, and the order of the hosts."""

from __future__ import annotations

import random

from benchmarks.many_hosts import meet
from benchmarks.row import Row, row_of
from training_launcher.cluster import parse_cluster

HOSTS = 2048
ROUNDS = 3
JOINED, TOLD, MEGABYTES = 10, 2, 200


def rows() -> list[Row]:
    """What the channel takes against what it may take."""
    meetings = [meet(HOSTS) for _ in range(ROUNDS)]

    def row(what: str, values: list[float], may: float, unit: str) -> Row:
        text = f"{HOSTS:,} hosts: {what}"
        return row_of(text, values, [may] * len(values), against="the most", unit=unit, bar=1.0)

    return [
        row("all joined", [meeting.joined for meeting in meetings], JOINED, "s"),
        row("first failure told to all", [meeting.told for meeting in meetings], TOLD, "s"),
        row("leader's memory", [meeting.megabytes for meeting in meetings], MEGABYTES, "MB"),
        row("different orders of unsorted names", [float(_orders())], 1, "orders"),
    ]


def _orders() -> int:
    """In how many orders the hosts see themselves, each having been given its own."""
    names = [f"algo-{number + 1}" for number in range(HOSTS)]
    found = set()
    for seed in range(32):
        random.Random(seed).shuffle(names)
        found.add(parse_cluster({"hosts": names, "current_host": names[0]}, "resourceconfig.json").hosts)
    return len(found)
