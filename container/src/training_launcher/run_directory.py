"""The launcher's own folder for one run: the rank guard, mpirun's launch agent, the ranks' output pipes and events."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from importlib.abc import ResourceLoader

_USUAL = "/tmp"  # noqa: S108
_LONGEST_SOCKET_ADDRESS = 107  # bytes, in Linux


def path_of(host: str, environment_directory: str | None) -> str:
    """Its path, which must be short enough for the addresses of sockets in it.

    A folder for temporary files that is too long for that, or that nothing can be written to, is passed over.
    """
    name = f"training-launcher-{host[:40]}-{os.getpid()}"
    directory = environment_directory or _USUAL
    is_short = len(os.fsencode(os.path.join(directory, name, "events"))) <= _LONGEST_SOCKET_ADDRESS
    usable = is_short and os.path.isdir(directory) and os.access(directory, os.W_OK | os.X_OK)
    return os.path.join(directory if usable else _USUAL, name)


def create(path: str) -> None:
    """Make it, for this user alone, with the programs in it that others are to start."""
    if os.path.isdir(path) and not os.path.islink(path) and os.stat(path).st_uid == os.getuid():
        remove(path)  # left by an earlier container that shared the disk; process ids come again
    os.mkdir(path, 0o700)
    for program in ("rank.py", "torchrun_agent.py", "launch_agent.py", "precompile.py"):
        with open(os.path.join(path, program), "wb") as file:
            file.write(_text(program))


def _text(program: str) -> bytes:
    """The text of a module, from within the zip too."""
    package = sys.modules["training_launcher"]
    loader = cast("ResourceLoader", package.__loader__)
    return loader.get_data(os.path.join(os.path.dirname(str(package.__file__)), program))


def remove(path: str) -> None:
    """Remove it and all in it."""
    import shutil  # noqa: PLC0415  costs eight modules

    shutil.rmtree(path, ignore_errors=True)
