"""Pump the output of the ranks to the console, unharmed, each line with its label.

Bytes are only ever copied: nothing is decoded, stripped or parsed on the way.
"""

from __future__ import annotations

import os
import time
from collections import deque

from training_launcher.console import Console
from training_launcher.reactor import Reactor, Timer

CHUNK = 1 << 18
TAIL = 1 << 16
"""Bytes of each stream that are kept for the failure file."""
PARTIAL = 1 << 20
"""A line without an end is passed on when it has grown to this many bytes."""
IDLE = 0.2
"""Seconds after which a line without an end, such as a progress bar, is passed on."""


class Merger:
    """The one place where streams meet: keeps lines of different streams apart."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._unfinished: Stream | None = None

    def write(self, stream: Stream, data: bytes) -> None:
        """Write a stream's bytes; ends another stream's unfinished line first."""
        label = stream.label
        if self._unfinished is not None and self._unfinished is not stream:
            self.console.write(b"\n")
            self._unfinished = None
        begin = b"" if self._unfinished is stream else label
        # one pass over the bytes in C, whatever the number of lines, and no copy besides
        labelled = memoryview(data.replace(b"\n", b"\n" + label))
        finished = data.endswith(b"\n")
        self.console.write(begin, labelled[: len(labelled) - len(label)] if finished else labelled)
        self._unfinished = None if finished else stream

    def finish(self) -> None:
        """End the unfinished line, if there is one."""
        if self._unfinished is not None:
            self.console.write(b"\n")
            self._unfinished = None


class Stream:
    """One process's output: reads it, keeps its end, hands whole lines on.

    Args:
        reactor: The event loop.
        merger: Where the bytes go.
        fd: Descriptor to read; made non-blocking, and closed by `close`.
        label: What stands before each line, such as ``b"[algo-2 rank 3] "``.
    """

    def __init__(self, reactor: Reactor, merger: Merger, fd: int, label: bytes) -> None:
        self.label = label
        self._reactor, self._merger, self._fd = reactor, merger, fd
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._held = b""
        self._muted: list[bytes] | None = None
        self._timer: Timer | None = None
        self.last_read = time.monotonic()
        """When something came last, or the watch began."""
        os.set_blocking(fd, False)
        self._watch()

    @property
    def tail(self) -> bytes:
        """The last bytes that came."""
        return b"".join(self._tail)[-TAIL:]

    def forget(self) -> None:
        """Begin a new tail: another process writes here from now on."""
        self._tail.clear()
        self._tail_size = 0
        self.last_read = time.monotonic()

    def mute(self) -> None:
        """From now on keep what comes to oneself; `unmute` may still pass on its end."""
        self._flush()
        self._muted = self._muted or []

    def unmute(self) -> None:
        """Pass on the last of what was kept, and everything that comes."""
        kept, self._muted = self._muted, None
        if kept:
            self._merger.write(self, b"".join(kept)[-TAIL:])

    def drain(self) -> None:
        """Read all that is there now, and pass on a last line without an end."""
        if self._fd < 0:
            return
        while self._read_once():
            pass
        self._flush()

    def close(self) -> None:
        """Read what is there and let go of the descriptor."""
        if self._fd < 0:
            return
        self.drain()
        if self._fd >= 0:
            self._end()

    def _watch(self) -> None:
        if self._fd >= 0:
            self._reactor.watch(self._fd, readable=self._readable)

    def _readable(self) -> None:
        self._read_once()
        if self._merger.console.full and self._fd >= 0:
            self._reactor.watch(self._fd)
            self._merger.console.when_free(self._watch)

    def _read_once(self) -> bool:
        if self._fd < 0:  # closed by another callback of the same round
            return False
        try:
            data = os.read(self._fd, CHUNK)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if not data:
            self._flush()
            self._end()
            return False
        self._keep(data)
        self.last_read = time.monotonic()
        if self._muted is None:
            self._pass_on(data)
        else:
            self._muted = [b"".join([*self._muted, data])[-TAIL:]]
        return True

    def _keep(self, data: bytes) -> None:
        self._tail.append(data[-TAIL:])
        self._tail_size += len(self._tail[-1])
        while self._tail_size - len(self._tail[0]) >= TAIL:
            self._tail_size -= len(self._tail.popleft())

    def _pass_on(self, data: bytes) -> None:
        cut = data.rfind(b"\n") + 1
        if cut:
            lines = data[:cut]  # the very same object where nothing comes after
            self._merger.write(self, self._held + lines if self._held else lines)
            self._held = data[cut:]
        else:
            self._held += data
        if len(self._held) >= PARTIAL:
            self._flush()
        if self._held and self._timer is None:
            self._timer = self._reactor.later(IDLE, self._idle)

    def _idle(self) -> None:
        self._timer = None
        rest = IDLE - (time.monotonic() - self.last_read)
        if rest > 0:
            self._timer = self._reactor.later(rest, self._idle)
        else:
            self._flush()

    def _flush(self) -> None:
        if self._held:
            held, self._held = self._held, b""
            self._merger.write(self, held)

    def _end(self) -> None:
        self._reactor.watch(self._fd)
        os.close(self._fd)
        self._fd = -1


class Voice:
    """The launcher's own lines, labelled ``[launcher algo-1]``."""

    def __init__(self, merger: Merger, host: str) -> None:
        self._merger = merger
        self._label = f"[launcher {host}] "

    def __call__(self, text: str) -> None:
        """Say something, line by line."""
        self._merger.finish()
        lines = "".join(f"{self._label}{line}\n" for line in text.splitlines() or [""])
        self._merger.console.write(lines.encode(errors="surrogateescape"))
