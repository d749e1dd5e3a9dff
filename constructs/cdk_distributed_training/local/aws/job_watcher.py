"""Who watches the jobs of the emulation."""

from __future__ import annotations


class JobWatcher:
    """Does nothing; subclasses override what they care for. Called from the jobs' own threads."""

    def on_status(self, job: str, secondary_status: str) -> None:
        """A job has entered another secondary status."""

    def on_output(self, job: str, host: str, piece: bytes) -> None:
        """A host's container has written a line, or a part of one."""
