"""What the hosts must agree on before any rank starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from training_launcher.failure import Failure
from training_launcher.problems import NOT_STARTED


def agree(world: Sequence[str], reports: Mapping[str, Mapping[str, Any]]) -> tuple[int, ...] | Failure:
    """Ranks of each host of the world, or why they do not fit together.

    Args:
        world: Hosts that run ranks, the leader first.
        reports: What each host said about itself, see `Preparation.report`.
    """
    leader = reports[world[0]]
    for host in world:
        report = reports[host]
        if report["kind"] != leader["kind"]:
            return _failure(host, f"{host} starts {report['kind']}, but {world[0]} starts {leader['kind']}")
        if report.get("alike") and report["devices"] != leader["devices"]:
            return _failure(
                host, f"{host} has {report['devices']}, but {world[0]} has {leader['devices']}: {report['alike']}"
            )
    by_type: dict[str, str] = {}
    for host in world:
        report = reports[host]
        other = by_type.setdefault(report["instance_type"], host)
        if report["automatic"] and report["processes"] != reports[other]["processes"]:
            return _failure(
                min(host, other, key=lambda name: int(reports[name]["processes"])),
                f"{host} has {report['devices']}, but {other} of the same instance type has "
                f"{reports[other]['devices']}: a device is missing or broken "
                "(with --nproc-per-node N the job would start nevertheless)",
            )
        ours, theirs = report.get("collectives"), reports[other].get("collectives")
        if ours and theirs and ours != theirs:
            return _failure(
                host,
                f"{host} would use {ours}, but {other} of the same instance type {theirs}: a device, libfabric or a "
                "plug-in is missing on one of them (their logs say which; --collectives names one for all)",
            )
    return tuple(int(reports[host]["processes"]) for host in world)


def _failure(host: str, summary: str) -> Failure:
    return Failure("hosts differ", host, NOT_STARTED, summary)
