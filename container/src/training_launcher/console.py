"""Standard output of the launcher: never blocks the event loop, never dies of a reader that went away."""

from __future__ import annotations

import os
import stat
import time
from collections import deque
from itertools import islice

from training_launcher.pipes import enlarge
from training_launcher.reactor import Callback, Reactor

HIGH, LOW = 8 << 20, 1 << 20
"""Bytes that wait for a slow reader when the ranks are held back, and when they may go on."""
_PIECES = 64
"""Written at once; the system takes 1,024 at most."""


class Console:
    """Buffers what the reader of standard output does not take yet.

    Args:
        reactor: Where to wait for the reader.
        fd: Standard output.
    """

    def __init__(self, reactor: Reactor, fd: int = 1) -> None:
        self._reactor = reactor
        self._fd = _own_description(fd)
        self._waiting: deque[memoryview] = deque()
        self._size = 0
        self._broken = False
        self._when_free: list[Callback] = []

    @property
    def full(self) -> bool:
        """Whether more output should wait; see `when_free`."""
        return self._size > HIGH

    def when_free(self, callback: Callback) -> None:
        """Call once as soon as there is room again."""
        self._when_free.append(callback)

    def write(self, *pieces: bytes | memoryview) -> None:
        """Write one after the other, now or as soon as the reader takes it."""
        if self._broken:
            return
        idle = not self._waiting
        for piece in pieces:
            if piece:
                self._waiting.append(memoryview(piece))
                self._size += len(piece)
        if idle and self._waiting:
            self._send()

    def close(self, seconds: float) -> None:
        """Give the reader some last seconds to take what waits."""
        end = time.monotonic() + seconds
        while self._waiting and time.monotonic() < end:
            self._send()
            if self._waiting:
                time.sleep(0.01)

    def _send(self) -> None:
        try:
            while self._waiting:
                written = os.writev(self._fd, list(islice(self._waiting, _PIECES)))
                self._size -= written
                while written:
                    piece = self._waiting[0]
                    if written < len(piece):
                        self._waiting[0] = piece[written:]
                        break
                    written -= len(piece)
                    self._waiting.popleft()
        except BlockingIOError:
            self._reactor.watch(self._fd, writable=self._send)
        except OSError:
            # the reader is gone; training must not die of that
            self._broken, self._size = True, 0
            self._waiting.clear()
        if not self._waiting:
            self._reactor.watch(self._fd)
        if self._size <= LOW and self._when_free:
            callbacks, self._when_free = self._when_free, []
            for callback in callbacks:
                callback()


def _own_description(fd: int) -> int:
    """For a pipe, a second description of it that can be non-blocking without changing it for its other users."""
    try:
        if stat.S_ISFIFO(os.fstat(fd).st_mode):
            own = os.open(f"/proc/self/fd/{fd}", os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            enlarge(own)
            return own
    except OSError:  # no /proc, or another user's pipe: then writes may block
        pass
    return fd
