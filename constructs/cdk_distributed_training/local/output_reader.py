"""One host's output, cut into pieces that can be shown and written as they come."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Iterator
from typing import IO

CHUNK = 1 << 16
LONGEST = 1 << 20  # a line without an end must not fill the memory
PATIENCE = 1.0  # seconds until an unfinished line, such as a progress bar, is shown


def pieces(stream: IO[bytes]) -> Iterator[bytes]:
    """Whole lines with their line ends; an unfinished line after a second, or when it grows beyond 1 MiB."""
    pending = b""
    since = 0.0
    while True:
        if pending and not select.select([stream], [], [], PATIENCE)[0]:
            yield pending
            pending = b""
            continue
        chunk = os.read(stream.fileno(), CHUNK)
        if not chunk:
            break
        if not pending:
            since = time.monotonic()
        lines = _lines(pending + chunk)
        pending = lines.pop() if not lines[-1].endswith(b"\n") else b""
        yield from lines
        if len(pending) > LONGEST or (pending and time.monotonic() - since > PATIENCE):
            yield pending
            pending = b""
    if pending:
        yield pending


def _lines(data: bytes) -> list[bytes]:
    whole = data.split(b"\n")
    lines = [line + b"\n" for line in whole[:-1]]
    return [*lines, whole[-1]] if whole[-1] else lines
