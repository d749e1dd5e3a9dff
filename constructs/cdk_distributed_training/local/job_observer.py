"""Who watches a simulated job."""

from __future__ import annotations

from cdk_distributed_training.local.statuses import Transition


class JobObserver:
    """Does nothing; subclasses override what they care for. `on_output` is called from one thread for each host."""

    def on_status(self, transition: Transition) -> None:
        """The job has entered another secondary status."""

    def on_output(self, host: str, piece: bytes) -> None:
        """A host's container has written a line (or, after a second, a part of one)."""
