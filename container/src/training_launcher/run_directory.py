"""The launcher's own folder for one run: the rank guard, mpirun's launch agent, the ranks' output pipes and events."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from importlib.abc import ResourceLoader

_LONGEST_SOCKET_ADDRESS = 107


def path_of(host: str, environment_directory: str | None) -> str:
    """Its path: short, because socket addresses hold 107 bytes.

    A folder for temporary files that nothing can be written to, or that is too long, is passed over, as Python does.
    """
    name = f"training-launcher-{host[:40]}-{os.getpid()}"
    given = os.path.join(environment_directory or "", name)
    fits = len(os.fsencode(given)) + len("/events") <= _LONGEST_SOCKET_ADDRESS
    if fits and os.path.isdir(environment_directory or "") and os.access(os.path.dirname(given), os.W_OK | os.X_OK):
        return given
    return os.path.join("/tmp", name)  # noqa: S108


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
