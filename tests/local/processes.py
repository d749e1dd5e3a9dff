"""Look for processes that should not be there any more."""

import contextlib
import time
from collections.abc import Callable
from pathlib import Path


def living(marker: str) -> list[str]:
    """Command lines, of processes that are no zombies, in which a marker occurs."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                if marker in command:
                    found.append(f"{folder.name} {command}")
    return found


def eventually(condition: Callable[[], bool], seconds: float = 20) -> bool:
    """Whether a condition comes true within a generous time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return condition()
