"""Which job of a queue comes next: first in, first out, by fair shares, or by shares with machines of their own.

What a fair share has had is counted in machines that were started, not in their seconds as on AWS: the order then
depends on no one's speed.

Source: https://docs.aws.amazon.com/batch/latest/userguide/fair-share-scheduling.html
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from cdk_distributed_training.local.aws.queues.service_job import ServiceJob

_DECAY_SECONDS = 600


def in_order(jobs: Sequence[ServiceJob]) -> list[ServiceJob]:
    """Jobs of one share: the highest priority first, then as they came."""
    return sorted(jobs, key=lambda job: (-job.priority, job.order))


class Turns(ABC):
    """The rule of one queue; whoever is at a head that does not fit is waited for."""

    @abstractmethod
    def heads(self, waiting: Sequence[ServiceJob], begun: Sequence[ServiceJob]) -> list[ServiceJob]:
        """The jobs that may come next, the first one first; one that does not fit keeps the others of its line back.

        Args:
            waiting: The jobs that wait, at least one.
            begun: The jobs that have machines.
        """

    def limit(self, capacity: int, jobs: Sequence[ServiceJob]) -> int:
        """How many machines may be used at a time.

        Args:
            capacity: The machines of the environment.
            jobs: The jobs that wait or have machines.
        """
        del jobs
        return capacity

    def started(self, job: ServiceJob) -> None:
        """A job gets its machines."""
        del job

    def preempted_by(self, job: ServiceJob, begun: Sequence[ServiceJob]) -> ServiceJob | None:
        """The job that gives way to one that does not fit, if any."""
        del job, begun
        return None

    def problem(self, job: Mapping[str, Any]) -> str:
        """What is wrong with the share that a submission names; empty if nothing."""
        if job.get("shareIdentifier") or job.get("quotaShareName"):
            return "The job queue has no scheduling policy, and the job names a share"
        return ""


class FirstInFirstOut(Turns):
    """One line, in which priorities count for nothing."""

    def heads(self, waiting: Sequence[ServiceJob], begun: Sequence[ServiceJob]) -> list[ServiceJob]:
        """The first of it."""
        del begun
        return [min(waiting, key=lambda job: job.order)]


class FairShares(Turns):
    """A line for each share; the next one is of the share that has had least for its weight.

    Args:
        policy: `FairsharePolicy` as CloudFormation has it.
    """

    def __init__(self, policy: Mapping[str, Any]) -> None:
        """Nobody has had anything."""
        self._weights = {
            str(share["ShareIdentifier"]): float(share.get("WeightFactor", 1))
            for share in policy.get("ShareDistribution", [])
        }
        self._decay = float(policy.get("ShareDecaySeconds") or _DECAY_SECONDS)
        self._reservation = float(policy.get("ComputeReservation") or 0) / 100
        self._starts: list[tuple[float, str, int]] = []

    def heads(self, waiting: Sequence[ServiceJob], begun: Sequence[ServiceJob]) -> list[ServiceJob]:
        """The first of the line whose turn it is."""
        del begun
        used = self._used()
        first = {job.share: job for job in reversed(in_order(waiting))}
        return [min(first.values(), key=lambda job: (used.get(job.share, 0) * self.weight(job.share), job.order))]

    def limit(self, capacity: int, jobs: Sequence[ServiceJob]) -> int:
        """All but what is kept free for shares that have no job."""
        shares = {job.share for job in jobs}
        return capacity - int(capacity * self._reservation ** len(shares)) if self._reservation else capacity

    def started(self, job: ServiceJob) -> None:
        """Remember it."""
        self._starts.append((time.monotonic(), job.share, job.instances))

    def problem(self, job: Mapping[str, Any]) -> str:
        """A share must be named."""
        return "" if job.get("shareIdentifier") else "The job queue has fair shares, and the job names none"

    def weight(self, share: str) -> float:
        """A share's weight: its own, that of the longest beginning, or 1."""
        matching = [name for name in self._weights if name.endswith("*") and share.startswith(name[:-1])]
        return self._weights.get(share) or (self._weights[max(matching, key=len)] if matching else 1.0)

    def _used(self) -> dict[str, int]:
        since = time.monotonic() - self._decay
        self._starts = [start for start in self._starts if start[0] >= since]
        used: dict[str, int] = {}
        for _, share, machines in self._starts:
            used[share] = used.get(share, 0) + machines
        return used


class QuotaShares(Turns):
    """A line for each share, which has machines of its own.

    Source: https://docs.aws.amazon.com/batch/latest/userguide/preemption.html
    """

    def __init__(self) -> None:
        """Shares are added to the queue later."""
        self.shares: dict[str, Mapping[str, Any]] = {}

    def heads(self, waiting: Sequence[ServiceJob], begun: Sequence[ServiceJob]) -> list[ServiceJob]:
        """The first of each line that fits into its share."""
        first = {job.share: job for job in reversed(in_order(waiting))}
        return sorted((job for job in first.values() if self._fits(job, begun)), key=lambda job: job.order)

    def preempted_by(self, job: ServiceJob, begun: Sequence[ServiceJob]) -> ServiceJob | None:
        """Someone who has borrowed what is the job's share's, or the least of the same share where it wants it so."""
        if any(one.stopping for one in begun):
            return None
        excess = {kind: self._excess(job.share, kind, count, begun) for kind, count in job.machines.items()}
        if all(missing <= 0 for missing in excess.values()):
            gives = [one for one in begun if any(self._excess(one.share, kind, 0, begun) > 0 for kind in one.machines)]
        elif self.shares[job.share].get("PreemptionConfiguration", {}).get("InSharePreemption") == "ENABLED":
            gives = [one for one in begun if one.share == job.share and one.priority < job.priority]
        else:
            gives = []
        return max(gives, key=lambda one: (-one.priority, one.order), default=None)

    def problem(self, job: Mapping[str, Any]) -> str:
        """A share that exists must be named."""
        name = job.get("quotaShareName")
        return "" if name in self.shares else f"The job queue has no quota share {name}: {', '.join(self.shares)}"

    def _fits(self, job: ServiceJob, begun: Sequence[ServiceJob]) -> bool:
        return all(self._fits_kind(job.share, kind, count, begun) for kind, count in job.machines.items())

    def _fits_kind(self, share: str, kind: str, count: int, begun: Sequence[ServiceJob]) -> bool:
        free = {name: max(0, -self._excess(name, kind, 0, begun)) for name in self.shares}
        borrowed = sum(max(0, self._excess(name, kind, 0, begun)) for name in self.shares)
        wanted = self._excess(share, kind, count, begun)
        if wanted <= 0:
            # what is lent comes back when the borrower's job has ended
            return count <= sum(free.values()) - borrowed
        sharing = {name: given.get("ResourceSharingConfiguration", {}) for name, given in self.shares.items()}
        percent = sharing[share].get("BorrowLimit")
        most = _own(self.shares[share], kind) * percent / 100 if percent not in (None, -1) else wanted
        lendable = sum(
            free[name] for name, one in sharing.items() if name != share and one.get("Strategy") != "RESERVE"
        )
        lent_now = borrowed - max(0, self._excess(share, kind, 0, begun))
        return sharing[share].get("Strategy") == "LEND_AND_BORROW" and wanted <= most and wanted <= lendable - lent_now

    def _excess(self, share: str, kind: str, more: int, begun: Sequence[ServiceJob]) -> int:
        """Machines beyond a share's own, if it had so many more."""
        used = sum(job.machines.get(kind, 0) for job in begun if job.share == share)
        return used + more - _own(self.shares[share], kind)


def _own(share: Mapping[str, Any], kind: str) -> int:
    return sum(int(one["MaxCapacity"]) for one in share.get("CapacityLimits", []) if one["CapacityUnit"] == kind)
