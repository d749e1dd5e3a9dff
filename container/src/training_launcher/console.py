"""Standard output of the launcher: never blocks the event loop, never dies of a reader that went away."""

from __future__ import annotations

import os
import stat
import time
from collections import deque

from training_launcher.reactor import Callback, Reactor

HIGH, LOW = 8 << 20, 1 << 20
"""Bytes that wait for a slow reader when the ranks are held back, and when they may go on."""


class Console:
    """Buffers what the reader of standard output does not take yet.

    Args:
        reactor: Where to wait for the reader.
        fd: Standard output.
    """

    def __init__(self, reactor: Reactor, fd: int = 1) -> None:
        self._reactor = reactor
        self._fd = _own_description(fd)
        self._waiting: deque[bytes] = deque()
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

    def write(self, data: bytes) -> None:
        """Write, now or as soon as the reader takes it."""
        if self._broken or not data:
            return
        self._waiting.append(data)
        self._size += len(data)
        if len(self._waiting) == 1:
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
                data = self._waiting[0]
                written = os.write(self._fd, data)
                self._size -= written
                if written < len(data):
                    self._waiting[0] = data[written:]
                else:
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
            return os.open(f"/proc/self/fd/{fd}", os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:  # no /proc, or another user's pipe: then writes may block
        pass
    return fd
