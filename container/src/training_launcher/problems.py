"""What the launcher itself has to complain about, as distinct from a failure of the user's training."""

from __future__ import annotations

BAD_INPUT = 2
NOT_STARTED = 3
INTERNAL = 70


class Problem(Exception):  # noqa: N818  often it is a value that waits to be told
    """The job cannot go on, and the reader of the message can do something about it.

    Args:
        message: What is wrong, what was found, and what to do; no traceback is shown with it.
        kind: One or two words that begin the failure file, such as ``bad input``.
        exit_code: The exit code of every host.
    """

    def __init__(self, message: str, *, kind: str = "bad input", exit_code: int = BAD_INPUT) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.exit_code = exit_code
