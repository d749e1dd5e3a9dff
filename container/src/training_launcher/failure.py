"""A failure as a value: who, how and why, and its text for ``/opt/ml/output/failure``.

SageMaker puts the first 1,024 characters into ``FailureReason``, with a prefix and the exit code of its own around
them. https://docs.aws.amazon.com/sagemaker/latest/dg/your-algorithms-training-algo-output.html
"""

from __future__ import annotations

import contextlib
import errno
import os
from typing import Any, NamedTuple, Optional

LONGEST = 990
"""Characters of the file, which leaves room for SageMaker's own words."""
FULL = (errno.ENOSPC, errno.EDQUOT)
"""What the system says of a full disk or a used-up quota."""
_FIRST_LINE = 600
_ROOM = ".room-for-failure"


class Failure(NamedTuple):
    """One candidate for the reason why the job failed."""

    kind: str
    """What happened in a word or two: ``exception``, ``signal``, ``exit``, ``host lost``, ``bad input``."""
    host: str
    exit_code: int
    summary: str
    """One line: the exception's last line where there is one."""
    rank: Optional[int] = None
    local_rank: Optional[int] = None
    ended: str = ""
    """How the process ended, such as ``exit code 1`` or ``signal SIGKILL``."""
    detail: str = ""
    """Last lines of output, or the traceback."""
    weight: int = 0
    """0 for a cause of its own, 1 for what another's failure brings about, 2 for being ended by its own agent."""
    age: float = 0.0
    """Seconds since it happened; hosts exchange ages because their clocks may differ."""

    def to_message(self) -> dict[str, Any]:
        """For the control channel."""
        return self._asdict()

    @classmethod
    def from_message(cls, message: dict[str, Any]) -> Failure:
        """From the control channel; unknown members of a newer launcher are ignored."""
        return cls(**{name: value for name, value in message.items() if name in cls._fields})

    @property
    def where(self) -> str:
        """Host and rank in words."""
        if self.rank is None:
            return f"host {self.host}"
        return f"host {self.host} rank {self.rank} (local rank {self.local_rank})"

    @property
    def first_line(self) -> str:
        """``exception | host algo-2 rank 3 (local rank 1) | exit code 1 | ValueError: …``."""
        return " | ".join(
            part for part in (self.kind, self.where, self.ended or f"exit code {self.exit_code}", self.summary) if part
        )

    @property
    def text(self) -> str:
        """The failure file: the first line, then as many of the last lines of output as there is room for."""
        first = _shorten(self.first_line.replace("\n", " "), _FIRST_LINE if self.detail else LONGEST)
        if not self.detail:
            return first
        room = LONGEST - len(first) - 1
        detail = self.detail.strip("\n")
        if len(detail) > room:
            lines = detail[-room + 2 :]
            cut = lines.find("\n")
            # whole lines where there are several, for the reader's sake
            detail = "…\n" + (lines[cut + 1 :] if 0 <= cut < len(lines) // 2 else lines)
        return f"{first}\n{detail}"[:LONGEST]


def reserve_room(output_directory: str) -> None:
    """Keep room on the disk for a failure file: a full disk is often the failure itself."""
    with contextlib.suppress(OSError):  # it is full already, or cannot be written: then there is nothing to keep
        os.makedirs(output_directory, exist_ok=True)
        with open(os.path.join(output_directory, _ROOM), "wb") as file:
            file.write(b" " * 4 * LONGEST)  # a character may take four bytes


def discard_room(output_directory: str) -> None:
    """Give back what `reserve_room` has kept and no failure has used."""
    with contextlib.suppress(OSError):
        os.remove(os.path.join(output_directory, _ROOM))


def write_failure(output_directory: str, text: str) -> bool:
    """Write the failure file, unless the user's script has written its own.

    Returns:
        Whether it was written.
    """
    path = os.path.join(output_directory, "failure")
    try:
        if os.path.getsize(path) > 0:
            return False
    except FileNotFoundError:
        pass
    os.makedirs(output_directory, exist_ok=True)
    content = text.encode(errors="replace")  # a lone surrogate, from an undecodable file name, is no UTF-8
    temporary = f"{path}.{os.getpid()}"
    try:
        with open(temporary, "wb") as file:
            file.write(content)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.remove(temporary)
        temporary = os.path.join(output_directory, _ROOM)
        if error.errno not in FULL or not os.path.exists(temporary):
            raise
        with open(temporary, "r+b") as file:  # over blocks that are there
            file.write(content)
            file.truncate()
    os.replace(temporary, path)
    return True


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
