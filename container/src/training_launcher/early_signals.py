"""Stops that come before the launcher can act on them.

The kernel drops a SIGTERM to the first process of a container for as long as that process has no handler for it. So
the program begins by this module, before all other imports, and `Run` asks what has come. What comes while the
interpreter itself starts, some 20 ms, is still lost: no program can catch it.
"""

from __future__ import annotations

import signal

_received: list[int] = []


def catch() -> None:
    """Remember SIGTERM and SIGINT from now on, until `Run` has handlers of its own."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _frame: _received.append(received))


def take() -> list[int]:
    """What has come since `catch`, once."""
    taken = _received[:]
    _received.clear()
    return taken


def pending() -> bool:
    """Whether something has come that nobody has taken yet."""
    return bool(_received)
