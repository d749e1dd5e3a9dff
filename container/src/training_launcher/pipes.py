"""Pipes with room for bursts."""

from __future__ import annotations

import contextlib
import fcntl

SIZE = 1 << 20


def enlarge(pipe: int) -> None:
    """Let a pipe hold more than the usual 64 KiB, so that who writes is seldom held up while who reads is busy."""
    with contextlib.suppress(OSError):  # the user's limit for pipes is reached: the usual size serves too
        fcntl.fcntl(pipe, getattr(fcntl, "F_SETPIPE_SZ", 1031), SIZE)
