"""What the helpers raise."""

from __future__ import annotations


class ProcessGroupError(RuntimeError):
    """Raised when no process group of the asked kind can be made here, or when the one that was made is not real."""


class CommunicationHookError(ValueError):
    """Raised when a communication hook is asked for that the process group's backend does not carry."""
