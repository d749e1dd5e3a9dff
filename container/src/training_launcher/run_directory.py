"""The launcher's own folder for one run: the rank guard, the ranks' output pipes and their events."""

from __future__ import annotations

import os
import shutil
from importlib.resources import files


def path_of(host: str, environment_directory: str | None) -> str:
    """Its path: short, because socket addresses hold 107 bytes."""
    return os.path.join(environment_directory or "/tmp", f"training-launcher-{host[:40]}-{os.getpid()}")  # noqa: S108


def create(path: str) -> None:
    """Make it, for this user alone, with the rank guard in it."""
    if os.path.isdir(path) and not os.path.islink(path) and os.stat(path).st_uid == os.getuid():
        shutil.rmtree(path)  # left by an earlier container that shared the disk; process ids come again
    os.mkdir(path, 0o700)
    guard = files("training_launcher").joinpath("rank.py").read_bytes()  # works from within the zip too
    with open(os.path.join(path, "rank.py"), "wb") as file:
        file.write(guard)


def remove(path: str) -> None:
    """Remove it and all in it."""
    shutil.rmtree(path, ignore_errors=True)
