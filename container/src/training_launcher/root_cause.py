"""Which of several failures is the cause of the others."""

from __future__ import annotations

from training_launcher.failure import Failure

WINDOW = 0.4
"""Seconds to wait for others after a failure that looks like a cause."""
VICTIM_WINDOW = 2.0
"""Seconds to wait after one that looks like a consequence: the cause may still be printing its traceback."""


class Candidates:
    """Failures that have been reported, with the time at which each happened."""

    def __init__(self) -> None:
        self._found: list[tuple[int, float, int, Failure]] = []

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, failure: Failure, now: float) -> None:
        """Note a failure, whose age places it on the clock `now`."""
        self._found.append((failure.weight, now - failure.age, len(self._found), failure))

    @property
    def best(self) -> Failure:
        """A cause of its own before a consequence, and among those the earliest."""
        return min(self._found)[3]

    @property
    def window(self) -> float:
        """Seconds to wait, from the first report on, before deciding."""
        return VICTIM_WINDOW if self.best.weight else WINDOW
