"""Compile a script's graphs before training: ``neuron_parallel_compile`` around the command that starts the ranks.

Written into the run directory and started as ``python3 -S -E precompile.py only|first COMMAND…``. The tool runs the
command once to collect graphs, without computing, and then compiles them in parallel. This program passes its output
on, says in one line how it came out, and then ends (``only``) or, unless the job is stopped, tells the launcher that
the training begins and becomes the command (``first``). It imports nothing of the launcher.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import sys
from typing import NoReturn

RUN = os.path.dirname(os.path.abspath(__file__))
STOPPING = os.path.join(RUN, "stopping")
"""While it exists, the launcher has told the ranks to end; see ``rank.py``."""
TOOL = "neuron_parallel_compile"
_COUNT = re.compile(rb"Total (graphs|failed compilations): (\d+)")
_TAIL = 1 << 16


def main(then: str, command: list[str]) -> NoReturn:
    code, tail = run([TOOL, *command])
    counts = [(name, int(number)) for name, number in _COUNT.findall(tail)]
    graphs = max((number for name, number in counts if name == b"graphs"), default=None)
    failed = max((number for name, number in counts if name != b"graphs"), default=0)
    if code:
        end(code, f"compiling ahead failed: {TOOL} ended with {f'exit code {code}' if code > 0 else f'signal {-code}'}")
    if failed:
        end(1, f"compiling ahead failed: {failed} of {graphs or failed} graphs cannot be compiled")
    done = "compiled ahead: " + ("no graphs were reported" if graphs is None else f"{graphs} graphs")
    if then == "only":
        end(0, f"{done}; nothing was trained: start the job again without --precompile")
    if os.path.exists(STOPPING):
        end(143, f"{done}; stopped before the training")
    say(f"{done}; now the training")
    tell_rehearsed()
    os.execvp(command[0], command)  # noqa: S606


def run(argv: list[str]) -> tuple[int, bytes]:
    """Run it and pass its output on as it comes; returns its end and the last of what it wrote."""
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.stdout  # noqa: S101
    tail = b""
    while data := os.read(process.stdout.fileno(), _TAIL):
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        tail = (tail + data)[-_TAIL:]
    return process.wait(), tail


def tell_rehearsed() -> None:
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as events:
        events.settimeout(10)  # the launcher is ending if it does not listen
        events.sendto(b'{"event": "rehearsed"}', os.path.join(RUN, "events"))


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def end(code: int, text: str) -> NoReturn:
    say(text)
    sys.exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
