"""Gloo's worker threads at the end of a script; torch-free.

A worker still holds the tensors of a collective for a moment after the script has been told that it is done, and takes
Python's lock to let go of them. Where that moment falls into Python's own end, the thread is ended inside C++ code that
must not be left: "terminate called without an active exception", SIGABRT, although all work was done (Python before
3.14). Destroying the process group does not always end its threads: a DistributedDataParallel model keeps it, and so do
default arguments in ``torch.distributed.nn.functional``, which the first such model imports.
https://github.com/pytorch/pytorch/issues/190489
"""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import Dict, Tuple

_NAME = "pt_gloo_runloop"
_LOOK_AGAIN = 0.01
LONGEST = 10.0
"""Seconds after which a thread that never rests is left alone."""


def wait_for_gloo_threads(longest: float = LONGEST) -> bool:
    """Wait until no worker has anything left to do or to let go of.

    Args:
        longest: Seconds to wait at most.

    Returns:
        Whether they rest; true as well where there are none.
    """
    until = time.monotonic() + longest
    before: Dict[str, Tuple[str, str]] = {}
    while True:
        seen = _workers()
        if not seen:
            return True
        rest = seen == before and all(state == "S" for state, _ in seen.values())
        if rest and not _foreign_frames():
            return True
        if time.monotonic() > until:
            return False
        before = seen
        time.sleep(_LOOK_AGAIN)  # without Python's lock, which is what a worker may be waiting for


def _workers() -> Dict[str, Tuple[str, str]]:
    """State of each worker, and how often it has gone to sleep: one that rests does not, one that waits for Python's
    lock does, every few milliseconds."""
    found = {}
    try:
        threads = os.listdir("/proc/self/task")
    except OSError:  # no Linux
        return {}
    for thread in threads:
        try:
            with open(f"/proc/self/task/{thread}/status", encoding="utf-8", errors="replace") as file:
                status = dict(line.split(":", 1) for line in file if ":" in line)
        except OSError:  # it has ended
            continue
        if status["Name"].strip() == _NAME:
            found[thread] = (status["State"].split()[0], status["voluntary_ctxt_switches"].strip())
    return found


def _foreign_frames() -> bool:
    """Whether a thread that is not Python's own runs Python code, such as a communication hook's callback."""
    own = {thread.ident for thread in threading.enumerate() if not isinstance(thread, threading._DummyThread)}
    return any(ident not in own for ident in sys._current_frames())
