"""One host's part: ask every rank here where it stands, and tell the leader.

faulthandler answers SIGABRT with the Python stacks of all threads, also when the process is stuck in C, on its standard
error, which comes through the rank's stream like any other output. The process ends by it.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Optional

from training_launcher.children import innermost, process_state, send
from training_launcher.hang.stack import ENDED, read_frames
from training_launcher.output import Stream
from training_launcher.reactor import Reactor

PATIENCE = 4.0
"""Seconds for the ranks to write their stacks: a process with hundreds of threads writes long."""
_LOOK = 0.05


class Silent(NamedTuple):
    """A rank that runs here, and its output."""

    number: int
    local: int
    pid: int
    stream: Stream
    status: Optional[int] = None
    """How it ended, if it has: with 0, or because another rank was asked sooner and went away."""


class RankExamination:
    """Makes the ranks write their stacks.

    Args:
        reactor: The event loop.
        ranks: The ranks of this host.
        finished: Called once with what to report of each rank.
    """

    def __init__(
        self, reactor: Reactor, ranks: Sequence[Silent], finished: Callable[[list[dict[str, Any]]], None]
    ) -> None:
        self._reactor, self._ranks, self._finished = reactor, ranks, finished
        self._states: dict[int, str] = {}
        self._quiet: dict[int, float] = {}
        self._until = 0.0

    def begin(self) -> None:
        """Note how every process is, then ask it."""
        now = time.monotonic()
        for rank in self._ranks:
            self._quiet[rank.number] = now - rank.stream.last_read
            if rank.status is not None:
                self._states[rank.number] = "" if rank.status else ENDED
                continue
            process = innermost(rank.pid)
            self._states[rank.number] = process_state(process)
            _no_core_file(process)
            send(process, signal.SIGABRT)
            send(process, signal.SIGCONT)  # a stopped process would answer never
        self._until = now + PATIENCE
        self._look()

    def _look(self) -> None:
        if (
            any(rank.status is None and process_state(rank.pid) for rank in self._ranks)
            and time.monotonic() < self._until
        ):
            self._reactor.later(_LOOK, self._look)
            return
        self._finished([self._report(rank) for rank in self._ranks])

    def _report(self, rank: Silent) -> dict[str, Any]:
        rank.stream.drain()
        return {
            "rank": rank.number,
            "local": rank.local,
            "state": self._states[rank.number],
            "quiet": self._quiet[rank.number],
            "frames": [list(frame) for frame in read_frames(rank.stream.tail)[:64]],
        }


def _no_core_file(pid: int) -> None:
    """Each rank's memory on the disk would take minutes, and the stacks say enough."""
    import resource  # noqa: PLC0415  only here

    with contextlib.suppress(OSError, AttributeError):  # it has just ended, or this is not Linux
        resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
