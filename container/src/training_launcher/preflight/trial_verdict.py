"""Judge how the throwaway ranks of all hosts have fared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from training_launcher.failure import Failure
from training_launcher.preflight.all_reduce import STAGES
from training_launcher.preflight.levels import EXIT_CODE, KIND

_NCCL_OWN = ("Socket", "IB")
"""Names of NCCL's own networks; a plug-in's has another."""


class Tried(NamedTuple):
    """What is judged."""

    world: Sequence[str]
    processes: Sequence[int]
    """Ranks of each host."""
    reports: Mapping[str, Mapping[str, Any]]
    """What `Trial` told on each host that has ranks."""
    label: str
    """The way in few words."""
    suspects: str
    """Where to look."""
    efa: bool
    """Whether NCCL must have gone over the plug-in."""
    gigabits: float
    """What a host's network devices carry together, in Gbit/s; 0 when unknown."""
    seconds: float
    """How long the ranks had."""


def judge_trial(tried: Tried) -> Failure | list[str]:
    """The failure, or what to say about the collectives."""
    bad = [(host, rank) for host in tried.world for rank in tried.reports.get(host, {}).get("bad", ())]
    if bad:
        return _failure(tried, bad)
    if tried.efa:
        for host, report in tried.reports.items():
            if report["network"] in _NCCL_OWN:
                return Failure(
                    KIND,
                    host,
                    EXIT_CODE,
                    f"NCCL took its own network {report['network']} on {host} although EFA and aws-ofi-nccl are there, "
                    f"so traffic between {host} and {_other(tried.world, host)} would crawl: the plug-in could not be "
                    "loaded or found no device (NCCL_DEBUG=INFO says why)",
                )
    return [_success(tried)]


def _success(tried: Tried) -> str:
    size = sum(tried.processes)
    seconds = max(float(report["seconds"]) for report in tried.reports.values())
    moved = max(int(report["bytes"]) for report in tried.reports.values())
    took = max(float(report["took"]) for report in tried.reports.values())
    # https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md#allreduce
    bandwidth = moved / seconds * 2 * (size - 1) / size / 1e9 if seconds else 0.0
    network = next((report["network"] for report in tried.reports.values() if report["network"]), "")
    said = f"preflight: {tried.label}{f' (network {network})' if network else ''}: {size} ranks add up"
    said += f"; bus bandwidth of a {moved / (1 << 20):g} MiB all-reduce {bandwidth:.3g} GB/s"
    if tried.gigabits:
        said += f", and each host's network devices say that they carry {tried.gigabits / 8:g} GB/s"
    return f"{said} ({took:.1f} s)"


def _failure(tried: Tried, bad: Sequence[tuple[str, Mapping[str, Any]]]) -> Failure:
    # a rank with an error of its own before those that lost their partner, and the earliest stage before later ones
    host, rank = min(
        bad,
        key=lambda one: (not one[1]["error"] or one[1]["victim"], STAGES.index(one[1]["stage"]), one[1]["rank"]),
    )
    number = int(rank["rank"])
    stage = rank["stage"]
    other = _other(tried.world, host)
    if stage == "joined":
        before = (number - 1) % sum(tried.processes)
        other = _host_of(before, tried)
        did = f"rank {number} heard nothing of rank {before}"
    else:
        did = f"rank {number} {_NOT_DONE[stage]}"
    why = rank["error"] or f"nothing happened within {tried.seconds:g} s"
    hosts = f"between {other} and {host}" if other != host else f"within {host}"
    more = f" ({len(bad)} ranks failed)" if len(bad) > 1 else ""
    return Failure(
        KIND, host, EXIT_CODE, f"{tried.label} failed {hosts}: {did}: {why}{more}. Look at this: {tried.suspects}"
    )


_NOT_DONE = {
    "nothing": "did not import torch",
    "started": "did not meet the others",
    "heard": "did not get the sum over all ranks",
    "summed": "did not finish larger sums",
    "measured": "did not end well",
}


def _other(world: Sequence[str], host: str) -> str:
    """The leader, at whose store all meet; for the leader itself its first member."""
    return world[0] if host != world[0] else world[1]


def _host_of(rank: int, tried: Tried) -> str:
    for host, count in zip(tried.world, tried.processes):  # noqa: B905  Python 3.9 has no `strict`
        if rank < count:
            return host
        rank -= count
    return tried.world[-1]
