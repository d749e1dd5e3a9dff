"""torchrun, so started that its ranks begin sooner: ``python3 torchrun_agent.py [--after HOST:PORT] OPTIONS…``.

Written into the run directory and called there in the place of ``python3 -m torch.distributed.run``. Of the time that
this takes, two parts bring nothing. Python looks for garbage a hundred times while it imports torch, and there is none.
And an agent that comes before the one that it is to meet asks it again only after half a second, and then ever later.
It imports nothing of the launcher.
"""

from __future__ import annotations

import contextlib
import gc
import os
import socket
import sys
import time

_PATIENCE = 60.0
"""Seconds; then torchrun tries for itself, and says in its own words what is wrong."""
_PAUSES = (0.02, 0.2)
"""Seconds between two questions, at first and at most."""


def main(words: list[str]) -> None:
    sys.path[0] = os.getcwd()  # as with `-m`
    gc.disable()
    from torch.distributed.run import main as torchrun  # noqa: PLC0415  half a second to three

    gc.freeze()
    gc.enable()
    if words[:1] == ["--after"]:
        wait_for(words[1])
        words = words[2:]
    sys.argv = ["torchrun", *words]
    torchrun(words)


def wait_for(endpoint: str) -> None:
    """Wait until somebody listens there."""
    host, port = endpoint.rsplit(":", 1)
    pause, until = _PAUSES[0], time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection((host, int(port)), timeout=5):
            return
        time.sleep(pause)
        pause = min(pause * 1.2, _PAUSES[1])


if __name__ == "__main__":
    main(sys.argv[1:])
