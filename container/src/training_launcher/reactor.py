"""The event loop: file descriptors, timers and signals, in one thread."""

from __future__ import annotations

import heapq
import itertools
import os
import selectors
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Optional

Callback = Callable[[], None]


class Timer:
    """A callback that is due; `cancel` makes it never happen."""

    def __init__(self, callback: Callback) -> None:
        self.callback: Optional[Callback] = callback

    def cancel(self) -> None:
        """Do not call; harmless when it has been called."""
        self.callback = None


class Reactor:
    """Calls back when something can be read or written, when time has passed, and when a signal has come."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._timers: list[tuple[float, int, Timer]] = []
        self._order = itertools.count()
        self._signals: deque[int] = deque()
        self._signal_callbacks: dict[int, Callable[[int], None]] = {}
        self._running = False

    def watch(self, fd: int, *, readable: Callback | None = None, writable: Callback | None = None) -> None:
        """Watch a descriptor for exactly the events that have a callback; none at all ends watching."""
        events = (selectors.EVENT_READ if readable else 0) | (selectors.EVENT_WRITE if writable else 0)
        known = fd in self._selector.get_map()
        if not events:
            if known:
                self._selector.unregister(fd)
        elif known:
            self._selector.modify(fd, events, (readable, writable))
        else:
            self._selector.register(fd, events, (readable, writable))

    def later(self, seconds: float, callback: Callback) -> Timer:
        """Call once after some seconds."""
        timer = Timer(callback)
        heapq.heappush(self._timers, (time.monotonic() + seconds, next(self._order), timer))
        return timer

    def every(self, seconds: float, callback: Callback) -> None:
        """Call again and again, for as long as the loop runs."""

        def again() -> None:
            self.later(seconds, again)
            callback()

        self.later(seconds, again)

    def on_signals(self, numbers: Iterable[int], callback: Callable[[int], None]) -> None:
        """Call with the signal's number, from the loop and never in the middle of other code."""
        if not self._signal_callbacks:
            reader, writer = os.pipe()
            os.set_blocking(reader, False)
            os.set_blocking(writer, False)
            signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
            self.watch(reader, readable=lambda: self._drain_signals(reader))
        for number in numbers:
            self._signal_callbacks[number] = callback
            signal.signal(number, lambda received, _frame: self._signals.append(received))

    def run(self) -> None:
        """Serve until `stop`."""
        self._running = True
        while self._running:
            timeout = None
            if self._timers:
                timeout = max(0.0, self._timers[0][0] - time.monotonic())
            for key, events in self._selector.select(timeout):
                readable, writable = key.data
                # a callback before this one may have stopped watching the descriptor
                if events & selectors.EVENT_WRITE and writable and key.fd in self._selector.get_map():
                    writable()
                if events & selectors.EVENT_READ and readable and key.fd in self._selector.get_map():
                    readable()
            self._call_due()

    def stop(self) -> None:
        """Return from `run` after the callbacks of this round."""
        self._running = False

    def _call_due(self) -> None:
        now = time.monotonic()
        while self._timers and self._timers[0][0] <= now:
            timer = heapq.heappop(self._timers)[2]
            if timer.callback:
                timer.callback()

    def _drain_signals(self, reader: int) -> None:
        try:
            while os.read(reader, 4096):
                pass
        except BlockingIOError:
            pass
        while self._signals:
            number = self._signals.popleft()
            self._signal_callbacks[number](number)
