"""Spare machines, for which spot jobs wait, and the time that such a job has in all.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/model-managed-spot-training.html
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any


class SpotCapacity:
    """Whether there are spare machines; there are unless somebody says otherwise."""

    def __init__(self) -> None:
        """There are some."""
        self._changed = threading.Condition()
        self._available = True

    def set(self, available: bool) -> None:
        """Say whether there are spare machines; running jobs keep theirs."""
        with self._changed:
            self._available = available
            self._changed.notify_all()

    def wait(self, *, until: float, unless: Callable[[], bool]) -> bool:
        """Wait for spare machines.

        Args:
            until: When to give up, by `time.monotonic`.
            unless: What else ends the waiting; `wake` has it looked at.

        Returns:
            Whether there are some.
        """
        with self._changed:
            while not self._available and not unless() and (rest := until - time.monotonic()) > 0:
                self._changed.wait(min(rest, threading.TIMEOUT_MAX))
            return self._available

    def wake(self) -> None:
        """Let those who wait look at what else ends their waiting."""
        with self._changed:
            self._changed.notify_all()


def is_spot(request: Mapping[str, Any]) -> bool:
    """Whether a job takes spare machines."""
    return bool(request.get("EnableManagedSpotTraining"))


def seconds_in_all(request: Mapping[str, Any]) -> float:
    """How long a job may wait and run together; for ever if the request does not say."""
    limit = request.get("StoppingCondition", {}).get("MaxWaitTimeInSeconds") if is_spot(request) else None
    return float("inf") if limit is None else float(limit)
