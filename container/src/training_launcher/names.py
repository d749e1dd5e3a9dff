"""Wait until every host's name resolves: containers of one job do not all start, and reach DNS, at the same time."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Sequence

from training_launcher.problems import NOT_STARTED, Problem
from training_launcher.reactor import Reactor


class NameWait:
    """Resolves names in a thread, since the resolver blocks, and reports to the event loop.

    Args:
        reactor: The event loop.
        names: Host names, in the order of their importance.
        seconds: When to give up.
        found: Called with each name and its address.
        finished: Called once, with a `Problem` when a name did not resolve in time, else None.
    """

    def __init__(
        self,
        reactor: Reactor,
        names: Sequence[str],
        seconds: float,
        found: Callable[[str, str], None],
        finished: Callable[[Problem | None], None],
    ) -> None:
        self._names, self._seconds = tuple(names), seconds
        self._found, self._finished = found, finished
        self._results: list[tuple[str, str]] = []
        self._given = 0
        self._problem: Problem | None = None
        self._reactor = reactor
        self._reader, self._writer = os.pipe()
        reactor.watch(self._reader, readable=self._readable)
        threading.Thread(target=self._resolve, name="names", daemon=True).start()

    def _resolve(self) -> None:
        waiting, end, pause = list(self._names), time.monotonic() + self._seconds, 0.1
        error = ""
        while waiting:
            for name in list(waiting):
                try:
                    address = str(socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)[0][4][0])
                except (OSError, UnicodeError) as reason:
                    error = str(getattr(reason, "strerror", None) or reason)
                    if time.monotonic() > end:
                        break
                else:
                    waiting.remove(name)
                    self._results.append((name, address))
                    os.write(self._writer, b".")
            if waiting and time.monotonic() > end:
                self._problem = unresolved(waiting, len(self._names), self._seconds, error)
                break
            if waiting:
                time.sleep(min(pause, max(0.01, end - time.monotonic())))
                pause = min(2.0, pause * 1.5)
        os.close(self._writer)

    def _readable(self) -> None:
        over = not os.read(self._reader, 4096)
        while self._given < len(self._results):
            name, address = self._results[self._given]
            self._given += 1
            self._found(name, address)
        if over:
            self._reactor.watch(self._reader)
            os.close(self._reader)
            self._finished(self._problem)


def unresolved(names: Sequence[str], total: int, seconds: float, error: str) -> Problem:
    """The message for names that did not resolve."""
    shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    return Problem(
        f"host name{'s' * (len(names) > 1)} {shown} did not resolve within {seconds:g} s "
        f"({len(names)} of {total} hosts; {error}): did the container of that host start, "
        "and does the VPC have DNS support and DNS host names on?",
        kind="name not found",
        exit_code=NOT_STARTED,
    )
