"""The leader's decisions, without sockets: when to go, what failed first, when it is over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from training_launcher.control.agreement import agree
from training_launcher.failure import Failure
from training_launcher.framing import Message
from training_launcher.problems import NOT_STARTED
from training_launcher.root_cause import Candidates

if TYPE_CHECKING:
    from training_launcher.preflight.director import Director

if TYPE_CHECKING:
    from training_launcher.hang.watch import HangWatch

STOPPED = 143


class Coordinator:
    """Takes what hosts report and tells all of them what to do; the first decision about the end is the last.

    Args:
        hosts: All hosts of the job.
        world: Those that run ranks, the leader first.
        broadcast: Sends a message to every host, this one included.
        later: Calls back after some seconds.
        now: A clock that only runs forward, in seconds.
    """

    def __init__(
        self,
        *,
        hosts: Sequence[str],
        world: Sequence[str],
        broadcast: Callable[[Message], None],
        later: Callable[[float, Callable[[], None]], Any],
        now: Callable[[], float],
    ) -> None:
        self._hosts, self._world = tuple(hosts), tuple(world)
        self._broadcast, self._later, self._now = broadcast, later, now
        self._reports: dict[str, dict[str, Any]] = {}
        self._candidates = Candidates()
        self._preflight: Director | None = None
        self._hang: HangWatch | None = None
        self._ended: dict[str, bool] = {}
        self._done: set[str] = set()
        self._deciding: set[str] = set()
        """Hosts with ranks: when they are done, the job is."""
        self._going = self._stopping = self._over = False

    @property
    def missing(self) -> list[str]:
        """Hosts that are not ready yet."""
        return [host for host in self._hosts if host not in self._reports]

    @property
    def going(self) -> bool:
        """Whether the ranks have been started."""
        return self._going

    def receive(self, host: str, message: Message) -> None:
        """Take a host's report; types that this launcher does not know are ignored."""
        kind = message["type"]
        if kind == "ready":
            self._ready(host, message["report"])
        elif kind in ("checked", "tried") and self._preflight:
            self._preflight.receive(host, message)
        elif kind in ("quiet", "stacks"):
            if self._hang:
                self._hang.receive(host, message)
        elif kind == "failed" and not (self._hang and self._hang.examining):
            self.failed(Failure.from_message(message["failure"]))
        elif kind == "stop":
            self._stop(host)
        elif kind == "ended":
            self._rank_end(host, clean=bool(message["clean"]))
        elif kind == "done":
            self._finished(host)

    def failed(self, failure: Failure) -> None:
        """A host has failed or something on it; wait a moment for what may have come before it, then tell all."""
        if self._over or self._stopping:
            return
        self._candidates.add(failure, self._now())
        # nothing can have come before a failure without ranks, such as bad input
        self._later(self._candidates.window if self._going else 0.0, self._decide)

    def lost(self, host: str, why: str) -> None:
        """A host is gone without a word."""
        if host in self._done:
            return
        if self._stopping:
            self._rank_end(host, clean=False)
            return
        self.failed(Failure("host lost", host, NOT_STARTED if not self._going else 1, why, ended="no exit code"))

    def timed_out(self, seconds: float) -> None:
        """Not all hosts have become ready in time."""
        missing = self.missing
        if missing and not self._going:
            names = ", ".join(missing[:8]) + (f" and {len(missing) - 8} more" if len(missing) > 8 else "")
            self.failed(
                Failure(
                    "host missing",
                    missing[0],
                    NOT_STARTED,
                    f"{names} not ready after {seconds:g} s (of {len(self._hosts)} hosts): did its container start, "
                    "and may the hosts reach each other (security group, control port)?",
                )
            )

    def _ready(self, host: str, report: dict[str, Any]) -> None:
        self._reports[host] = report
        if self._over or self._going or self._candidates or self.missing:
            return
        agreed = agree(self._world, self._reports)
        if isinstance(agreed, Failure):
            self.failed(agreed)
            return
        if len(self._world) == 1:
            self._go(agreed, ())
            return
        from training_launcher.preflight.director import Director  # noqa: PLC0415  one host has nothing to try

        self._preflight = Director(
            world=self._world,
            reports=self._reports,
            processes=agreed,
            broadcast=self._broadcast,
            later=self._later,
            now=self._now,
            passed=lambda notes: self._go(agreed, notes),
            failed=self.failed,
        )
        self._preflight.begin()

    def _go(self, processes: Sequence[int], notes: Sequence[str]) -> None:
        if self._over or self._candidates:
            return
        self._going = True
        self._watch_for_hangs()
        self._deciding = {self._world[position] for position, count in enumerate(processes) if count}
        said = {"notes": list(notes)} if notes else {}
        self._broadcast({"type": "go", "processes": list(processes), **said})

    def _watch_for_hangs(self) -> None:
        seconds = self._reports[self._world[0]].get("hang_timeout")
        if not seconds:
            return
        from training_launcher.hang.watch import HangWatch  # noqa: PLC0415  opt-in

        self._hang = HangWatch(
            hosts=[host for host in self._world if self._reports[host]["processes"]],
            seconds=float(seconds),
            broadcast=self._broadcast,
            later=self._later,
            now=self._now,
            failed=self.failed,
        )

    def _decide(self) -> None:
        if self._over or self._stopping:
            return
        best = self._candidates.best
        self._end({"failure": best._replace(age=0.0).to_message(), "exit_code": best.exit_code})

    def _stop(self, host: str) -> None:
        if self._stopping or self._over:
            return
        self._stopping = True
        if self._going:
            self._broadcast({"type": "stop", "host": host})
        else:
            self._end({"failure": None, "exit_code": STOPPED})

    def _rank_end(self, host: str, *, clean: bool) -> None:
        self._ended[host] = clean and self._ended.get(host, True)
        if self._stopping and all(name in self._ended or name in self._done for name in self._hosts):
            self._end({"failure": None, "exit_code": 0 if all(self._ended.values()) else STOPPED})

    def _finished(self, host: str) -> None:
        self._done.add(host)
        if self._going and self._deciding <= self._done:
            self._end({"failure": None, "exit_code": 0})
        elif self._stopping:
            self._rank_end(host, clean=True)

    def _end(self, outcome: Message) -> None:
        if not self._over:
            self._over = True
            self._broadcast({"type": "end", **outcome})
