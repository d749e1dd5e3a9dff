"""Waiting states and retries of a state machine take as long as they say: half a minute between two looks at a job.

Nothing is won by that on one machine. The addition shortens every wait to a longest one; what the definition asks for
is unchanged, and is what tests of the definition look at.
"""

from __future__ import annotations

import time
from typing import Any

from moto.stepfunctions.parser.asl.component.common.retry import retrier_decl
from moto.stepfunctions.parser.asl.component.state.wait.wait_function.wait_function import WaitFunction

longest_seconds = 1.0


class _Clock:
    """The part of `time` that a retry uses."""

    @staticmethod
    def sleep(seconds: float) -> None:
        """Sleep, but not long."""
        time.sleep(min(seconds, longest_seconds))


def install() -> None:
    """Shorten waiting states, and the intervals of retries."""
    WaitFunction._wait_interval = _wait
    retrier_decl.time = _Clock


def _wait(self: WaitFunction, env: Any, wait_seconds: float) -> None:
    """Wait until the time is over or the execution has ended; moto's own counts whole seconds only."""
    del self
    deadline = time.monotonic() + min(wait_seconds, longest_seconds)
    while env.is_running() and (rest := deadline - time.monotonic()) > 0:
        env.program_state_event.wait(rest)
