"""The stack of one rank, as Python's faulthandler writes it."""

from __future__ import annotations

import itertools
import re
from typing import NamedTuple, Optional

_TRACEBACK_FRAME = re.compile(r'^(?:\[rank\d+\]: ?)?  File "(?P<file>.*)", line (?P<line>\d+), in (?P<function>.*)$')
_TRACEBACK = re.compile(r"^(?:\[rank\d+\]: ?)?Traceback \(most recent call last\):$")
_FATAL = "Fatal Python error: "
_FRAME = re.compile(r'^  File "(?P<file>.*)", line (?P<line>\d+) in (?P<function>.*)$')
_OTHERS_CODE = re.compile(r"/(site-packages|dist-packages|python3(\.\d+)?)/|^<frozen ")
_COLLECTIVE = re.compile(r"/torch/distributed/|/torch_xla/|/torch_neuronx/|/mpi4py/|/horovod/|/smdistributed/")


ENDED = "ended"
"""State of a rank that has ended well, while others may wait for it."""


class Frame(NamedTuple):
    """A place in the code."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} in {self.function}"


class Stack(NamedTuple):
    """Where one rank stands."""

    rank: int
    local: int
    host: str
    state: str
    """Its process's state in ``/proc``: T is stopped, D waits in the kernel for a device, R computes, S waits."""
    frames: tuple[Frame, ...] = ()
    """Of the main thread, innermost first; empty for a process that is no Python or does not answer."""
    quiet: float = 0.0
    """Seconds since it last wrote something."""

    @property
    def where(self) -> Optional[Frame]:
        """The innermost line of the user's own code, else of any."""
        return next((frame for frame in self.frames if not _OTHERS_CODE.search(frame.file)), None) or (
            self.frames[0] if self.frames else None
        )

    @property
    def in_collective(self) -> bool:
        """Whether it waits for other ranks: what the user's code has called, and not what may have called that."""
        inner = itertools.takewhile(lambda frame: frame != self.where, self.frames)
        return any(_COLLECTIVE.search(frame.file) for frame in [*inner, *self.frames[:1]])

    @property
    def doing(self) -> str:
        """What it does, in a few words."""
        if self.state == ENDED:
            return "it has ended with exit code 0"
        if self.state in ("T", "t"):
            return "its process is stopped (SIGSTOP or a debugger)" + (f" at {self.where}" if self.where else "")
        if not self.where:
            return f"it shows no Python stack (process state {self.state or 'unknown'})"
        inner = f", waiting in {self.frames[0].function}" if self.in_collective else ""
        return f"at {self.where}{inner}"


def read_frames(output: bytes) -> tuple[Frame, ...]:
    """The main thread's frames in the last crash report within a process's output.

    Every thread has its paragraph, and the main one comes last. It is not always the *current* one, which is the thread
    that took the signal: any thread may, where the process was stopped.
    https://docs.python.org/3/library/faulthandler.html
    """
    lines = output.decode(errors="replace").split("\n")
    starts = [number for number, line in enumerate(lines) if line.startswith(_FATAL)]
    if not starts:
        return _traceback_frames(lines)
    threads: list[list[Frame]] = [[]]
    for line in lines[starts[-1] + 1 :]:
        found = _FRAME.match(line)
        if found:
            threads[-1].append(Frame(found["file"], int(found["line"]), found["function"]))
        elif line.startswith(("Current thread ", "Thread 0x")):
            threads.append([])
    return tuple(next((frames for frames in reversed(threads) if frames), ()))


def _traceback_frames(lines: list[str]) -> tuple[Frame, ...]:
    """Of a rank that raised an exception instead, as soon as one that it waited for had been asked."""
    starts = [number for number, line in enumerate(lines) if _TRACEBACK.match(line)]
    found = [_TRACEBACK_FRAME.match(line) for line in lines[starts[-1] :]] if starts else []
    return tuple(Frame(one["file"], int(one["line"]), one["function"]) for one in reversed(found) if one)
