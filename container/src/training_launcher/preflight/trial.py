"""The trial of the collectives on one host: throwaway ranks, watched for a short time and killed."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import time
from collections.abc import Callable, Mapping
from typing import Any

from training_launcher.children import Children
from training_launcher.preflight.all_reduce import MARK, STAGES
from training_launcher.process_end import failure_of
from training_launcher.reactor import Reactor

_TAIL = 1 << 16
_OTHERS = 3.0
"""Seconds that the other ranks have to end once one has failed: what they say then is the consequence of it."""
_MOST_TOLD = 8


class Trial:
    """Runs `all_reduce` once for each of this host's ranks.

    Args:
        reactor: The event loop.
        children: Starts and reaps.
        host: This host's name.
        python: The Python with torch.
        directory: Where they run.
        environments: Whole environment of each rank.
        first_rank: Global rank of the first.
        seconds: When those that are still there are killed.
        finished: Called once with what the leader should hear.
    """

    def __init__(
        self,
        reactor: Reactor,
        children: Children,
        *,
        host: str,
        python: str,
        directory: str,
        environments: list[Mapping[str, str]],
        first_rank: int,
        seconds: float,
        finished: Callable[[dict[str, Any]], None],
    ) -> None:
        self._reactor, self._host, self._finished = reactor, host, finished
        self._ranks: list[_Rank] = []
        self._running = len(environments)
        self._began = time.monotonic()
        self._over = False
        self._timer = reactor.later(seconds, self._end)
        for local, environment in enumerate(environments):
            rank = _Rank(reactor, first_rank + local)
            self._ranks.append(rank)
            pid, output = children.start(
                [python, "-u", "-m", "training_launcher.preflight.all_reduce"],
                environment=environment,
                directory=directory,
                ended=lambda status, rank=rank: self._ended(rank, status),  # type: ignore[misc]
            )
            rank.watch(pid, output)

    def _ended(self, rank: _Rank, status: int) -> None:
        rank.close()
        rank.status = status
        self._running -= 1
        if self._over:
            return
        if not self._running:
            self._end()
        elif status:
            self._timer.cancel()
            self._timer = self._reactor.later(_OTHERS, self._end)

    def _end(self) -> None:
        if self._over:
            return
        self._over = True
        self._timer.cancel()
        for rank in self._ranks:
            if rank.status is None:
                rank.read()
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(rank.pid, signal.SIGKILL)
        bad = [rank for rank in self._ranks if rank.status != 0 or rank.stage != STAGES[-1]]
        # the earliest stage first: the others wait for that rank
        bad.sort(key=lambda rank: STAGES.index(rank.stage))
        self._finished(
            {
                "bad": [rank.told(self._host) for rank in bad[:_MOST_TOLD]],
                "seconds": max((rank.seconds for rank in self._ranks), default=0.0),
                "bytes": max((rank.bytes for rank in self._ranks), default=0),
                "network": next((rank.network for rank in self._ranks if rank.network), ""),
                "took": time.monotonic() - self._began,
            }
        )


class _Rank:
    """One throwaway rank."""

    def __init__(self, reactor: Reactor, number: int) -> None:
        self._reactor, self.number = reactor, number
        self.pid = 0
        self.status: int | None = None
        self.stage = STAGES[0]
        self.seconds, self.bytes = 0.0, 0
        self.network = ""
        self._output = -1
        self._kept = b""
        self._line = b""

    def watch(self, pid: int, output: int) -> None:
        """Read what it writes."""
        self.pid, self._output = pid, output
        os.set_blocking(output, False)
        self._reactor.watch(output, readable=self.read)

    def read(self) -> None:
        """Take what is there."""
        while self._output >= 0:
            try:
                data = os.read(self._output, 1 << 16)
            except BlockingIOError:
                return
            if not data:
                self._let_go()
                return
            self._kept = (self._kept + data)[-_TAIL:]
            *lines, self._line = (self._line + data).split(b"\n")
            self._line = self._line[-_TAIL:]
            for line in lines:
                self._take(line.decode(errors="replace"))

    def close(self) -> None:
        """Take the last words."""
        self.read()
        self._let_go()

    def told(self, host: str) -> dict[str, Any]:
        """How it went, for the leader."""
        error, victim = "", False
        if self.status:
            failure = failure_of(self.status, host=host, output=_without_marks(self._kept))
            error, victim = f"{failure.ended}: {failure.summary}"[:500], failure.weight > 0
        return {"rank": self.number, "stage": self.stage, "error": error, "victim": victim}

    def _take(self, line: str) -> None:
        if line.startswith(MARK):
            event = json.loads(line[len(MARK) :])
            self.stage = event["stage"]
            self.seconds, self.bytes = float(event.get("seconds", 0)), int(event.get("bytes", 0))
        found = re.search(r"NCCL INFO .*Using network (\S.*)", line)
        if found:
            self.network = found.group(1).strip()

    def _let_go(self) -> None:
        if self._output >= 0:
            self._reactor.watch(self._output)
            os.close(self._output)
            self._output = -1


def _without_marks(output: bytes) -> bytes:
    return b"\n".join(line for line in output.split(b"\n") if line and not line.startswith(MARK.encode()))
