"""Turn the end of a process into a failure."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

from training_launcher.failure import Failure

if TYPE_CHECKING:
    from training_launcher.traceback_text import Explanation

_MEANINGS = {
    "SIGKILL": "killed from outside",
    "SIGSEGV": "segmentation fault",
    "SIGABRT": "aborted itself",
    "SIGBUS": "bus error: often a full /dev/shm",
    "SIGFPE": "arithmetic error",
    "SIGILL": "illegal instruction: often a library built for another processor",
    "SIGTERM": "told to end",
}


def exit_code_of(status: int) -> int:
    """The exit code that a wait status becomes: 128 plus the number for a signal."""
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def failure_of(
    status: int,
    *,
    host: str,
    output: bytes,
    rank: int | None = None,
    local_rank: int | None = None,
    program: str = "",
    out_of_memory: bool = False,
) -> Failure:
    """Why a process ended.

    Args:
        status: As `os.waitpid` gives it; not 0.
        host: Where it ran.
        output: The last of what it wrote.
        rank: Its global rank, if it is one.
        local_rank: Its rank on this host.
        program: Its name, if it is no rank.
        out_of_memory: Whether the kernel has ended a process here for want of memory.
    """
    # most jobs end well, and read none of it
    from training_launcher.late_thread import explain_late_thread  # noqa: PLC0415
    from training_launcher.traceback_text import explain  # noqa: PLC0415

    code = exit_code_of(status)
    explanation = explain(output, exit_code=code)
    prefix = f"{program}: " if program else ""
    if os.WIFSIGNALED(status):
        name = _signal_name(os.WTERMSIG(status))
        killed_for_memory = out_of_memory and name == "SIGKILL"
        meaning = "the host ran out of memory" if killed_for_memory else _MEANINGS.get(name, "")
        late = explain_late_thread(output) if name == "SIGABRT" else None
        if late is not None:
            explanation, meaning = late, "aborted while Python was ending"
        said = explanation.summary if name in ("SIGABRT", "SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL") else ""
        return Failure(
            kind="out of memory" if killed_for_memory else "exception" if explanation.is_exception else "signal",
            host=host,
            exit_code=code,
            rank=rank,
            local_rank=local_rank,
            ended=f"signal {name}",
            summary=prefix + ": ".join(part for part in (meaning, said) if part),
            detail=explanation.detail,
            weight=2 if name == "SIGTERM" else 1 if name == "SIGABRT" and explanation.is_victim else 0,
        )
    return Failure(
        kind="exception" if explanation.is_exception else "exit",
        host=host,
        exit_code=code,
        rank=rank,
        local_rank=local_rank,
        ended=f"exit code {code}",
        summary=prefix + _said(explanation),
        detail=explanation.detail,
        weight=2 if code == 143 else 1 if explanation.is_victim else 0,
    )


def _said(explanation: Explanation) -> str:
    if explanation.is_exception:
        return explanation.summary
    return f"last line: {explanation.summary}" if explanation.summary else "it wrote nothing"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"number {number}"


class OutOfMemoryCounter:
    """How often the kernel has killed for want of memory in this container, since the counter was made."""

    _FILES = ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control")

    def __init__(self) -> None:
        self._before = self._count()

    @property
    def happened(self) -> bool:
        """Whether it has killed since."""
        return self._count() > self._before

    def _count(self) -> int:
        for path in self._FILES:
            try:
                with open(path, encoding="ascii") as file:
                    for line in file:
                        name, _, value = line.partition(" ")
                        if name == "oom_kill":
                            return int(value)
            except (OSError, ValueError):  # another version of control groups, or none
                continue
        return 0
