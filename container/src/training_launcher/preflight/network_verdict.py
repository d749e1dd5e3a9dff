"""Judge what the hosts have found on the paths between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from training_launcher.failure import Failure
from training_launcher.preflight.knock import REFUSED, SILENT, Answer
from training_launcher.preflight.levels import EXIT_CODE, KIND

_MOST_SKEW = 5.0
"""Seconds between clocks above which logs of several hosts cannot be read together any more; AWS itself refuses signed
requests only after minutes."""
_WORDS = {
    SILENT: "packets are dropped on the way: the security group must let every host of the job reach every other on "
    "every port, in and out, and network_interface_name must be the interface between them",
    REFUSED: "something on the way refuses: a firewall on the host or in the container, or a network access list",
}


def summary_of(answers: Sequence[Answer], *, leader: bool) -> dict[str, Any]:
    """What a host tells the leader of its paths: short, since there may be thousands of hosts."""
    reached = [answer for answer in answers if not answer.error]
    return {
        "paths": len(answers),
        "errors": {answer.host: answer.error for answer in answers if answer.error},
        "slowest": max((answer.seconds for answer in reached), default=0.0),
        # one clock to compare with suffices, and it is the leader's
        "ahead": {answer.host: round(answer.clock_ahead, 3) for answer in reached} if leader else {},
    }


def judge_network(
    world: Sequence[str], summaries: Mapping[str, Mapping[str, Any]], *, seconds: float
) -> Failure | list[str]:
    """The failure, or what to say about the network.

    Args:
        world: Hosts that run ranks, the leader first.
        summaries: `summary_of` of each.
        seconds: How long it took.
    """
    broken = [
        (source, target, error) for source in world for target, error in sorted(summaries[source]["errors"].items())
    ]
    paths = sum(int(summaries[host]["paths"]) for host in world)
    if broken:
        return _failure(broken, paths)
    slowest = max(float(summaries[host]["slowest"]) for host in world)
    ahead = {host: float(seconds) for host, seconds in summaries[world[0]]["ahead"].items()}
    skew = max(map(abs, ahead.values()), default=0.0)
    said = [
        f"preflight: {len(world)} hosts reach each other both ways ({paths} paths, the slowest in "
        f"{slowest * 1000:.0f} ms; clocks within {skew:.2f} s; all of it in {seconds:.2f} s)"
    ]
    return said + [
        f"warning: the clock of {host} is {abs(seconds):.1f} s {'ahead of' if seconds > 0 else 'behind'} that of "
        f"{world[0]}: time stamps of logs and files will not fit together"
        for host, seconds in ahead.items()
        if abs(seconds) > _MOST_SKEW
    ]


def _failure(broken: Sequence[tuple[str, str, str]], paths: int) -> Failure:
    culprit = _in_all(broken)
    first = next((one for one in broken if culprit in one[:2]), broken[0])
    source, target, error = first
    back = any((one[0], one[1]) == (target, source) for one in broken)
    way = "nor the other way round" if back else f"though {target} reaches {source}"
    words = _WORDS.get(error, error)
    found = "no answer" if error == SILENT else "connection refused" if error == REFUSED else "no right answer"
    more = f"; {len(broken)} of {paths} paths are broken" if len(broken) > 1 + back else ""
    all_at = f", all from or to {culprit}" if culprit and more else ""
    summary = f"{source} does not reach {target} ({found}), {way}{more}{all_at}: {words}"
    return Failure(KIND, culprit or target, EXIT_CODE, summary)


def _in_all(broken: Sequence[tuple[str, str, str]]) -> str:
    """The one host that is on all broken paths; empty when there is none or when it could be either of two."""
    hosts = set(broken[0][:2])
    for source, target, _ in broken:
        hosts &= {source, target}
    return hosts.pop() if len(hosts) == 1 else ""
