"""End every process of this host, in steps of growing force."""

from __future__ import annotations

import time
from collections.abc import Callable

from training_launcher.children import KILL, TERMINATE, Children
from training_launcher.reactor import Callback, Reactor

_LOOK = 0.02
"""Seconds between two looks at what is left."""
_LAST_WAIT = 2.0
"""Seconds for the kernel to take away what has been killed."""


class Ending:
    """Waits for the processes to end, tells them to, kills them.

    Args:
        reactor: The event loop.
        children: The processes.
        signal_all: Sends a signal to all of them.
        finished: Called once, when none is left or none can be helped.
    """

    def __init__(
        self, reactor: Reactor, children: Children, signal_all: Callable[[int], None], finished: Callback
    ) -> None:
        self._reactor, self._children = reactor, children
        self._signal_all, self._finished = signal_all, finished

    def begin(self, *, patience: float, grace: float) -> None:
        """Begin.

        Args:
            patience: Seconds in which they may end by themselves.
            grace: Seconds between telling them to end and killing them.
        """
        self._wait(patience, lambda: self._terminate(grace))

    def _terminate(self, grace: float) -> None:
        self._signal_all(TERMINATE)
        self._wait(grace, self._kill)

    def _kill(self) -> None:
        self._signal_all(KILL)
        self._wait(_LAST_WAIT, self._finished)

    def _wait(self, seconds: float, otherwise: Callback) -> None:
        self._look(time.monotonic() + seconds, otherwise)

    def _look(self, deadline: float, otherwise: Callback) -> None:
        if not self._children.any_left:
            self._finished()
        elif time.monotonic() >= deadline:
            otherwise()
        else:
            self._reactor.later(_LOOK, lambda: self._look(deadline, otherwise))
