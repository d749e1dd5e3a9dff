"""The user's entry: what stands behind ``--`` on the launcher's command line."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from training_launcher.problems import Problem


class Entry(NamedTuple):
    """A script, a module or a program, with its fixed arguments."""

    words: tuple[str, ...]

    @property
    def name(self) -> str:
        """What to call it in messages: ``train.py``, or ``-m package.train``."""
        return " ".join(self.words[:2]) if self.words[0] == "-m" else self.words[0]

    @property
    def file(self) -> str:
        """The file that must exist in the source folder; empty for a module or a program found on PATH."""
        first = self.words[0]
        return first if first.endswith((".py", ".sh")) or "/" in first else ""

    def command(self, python: str, directory: str) -> tuple[str, ...]:
        """The command that runs it, without a shell in between.

        Args:
            python: The Python interpreter for scripts and modules; run unbuffered.
            directory: The working directory; a program that lies there is preferred to one on PATH.
        """
        first = self.words[0]
        if first == "-m" or first.endswith(".py"):
            return (python, "-u", *self.words)
        if first.endswith(".sh"):
            shell = "/bin/bash" if os.path.exists("/bin/bash") else "/bin/sh"
            return (shell, *self.words)
        here = os.path.join(directory, first)
        return (here if os.path.isfile(here) else first, *self.words[1:])


def parse_entry(words: Sequence[str]) -> Entry:
    """Check the words behind ``--``.

    Raises:
        Problem: There are none, or ``-m`` without a module.
    """
    if not words or not words[0]:
        raise Problem("no entry script: say it after `--`, as in `torchrun --nproc-per-node 8 -- train.py --epochs 3`")
    if words[0] == "-m" and (len(words) < 2 or not words[1]):
        raise Problem("`-m` must be followed by a module, as in `torchrun -- -m package.train`")
    if words[0].startswith("-") and words[0] != "-m":
        raise Problem(
            f"the entry script after `--` cannot begin with a dash, got {words[0]!r}: "
            "the launcher's own options stand before `--`"
        )
    return Entry(tuple(words))


def require_entry(entry: Entry, directory: str) -> None:
    """Make sure that the entry is in the source folder and can be run.

    Raises:
        Problem: It is not there; the message says what is.
    """
    if entry.words[0] == "-m":
        _require_module(entry.words[1], directory)
        return
    path = os.path.join(directory, entry.words[0])
    if os.path.isfile(path):
        if not entry.words[0].endswith((".py", ".sh")) and not os.access(path, os.X_OK):
            os.chmod(path, os.stat(path).st_mode | 0o111)  # noqa: S103  archives often lose the mode
        return
    if entry.file or not _on_path(entry.words[0]):
        raise Problem(f"entry script {entry.words[0]} is not in {directory}, which holds {_listing(directory)}")


def _require_module(module: str, directory: str) -> None:
    """Only what can be said for sure: the top package may as well be installed, and then Python finds it."""
    top = module.split(".", maxsplit=1)[0]
    path = os.path.join(directory, *module.split("."))
    if os.path.isdir(os.path.join(directory, top)) and not (
        os.path.isfile(path + ".py") or os.path.isfile(os.path.join(path, "__main__.py"))
    ):
        raise Problem(
            f"module {module} is not in {directory}: there is neither {os.path.relpath(path, directory)}.py "
            f"nor {os.path.relpath(path, directory)}/__main__.py"
        )


def _on_path(program: str) -> bool:
    return any(
        os.access(os.path.join(directory, program), os.X_OK)
        for directory in os.environ.get("PATH", os.defpath).split(os.pathsep)
    )


def _listing(directory: str, most: int = 12) -> str:
    names = sorted(os.listdir(directory)) if os.path.isdir(directory) else []
    shown = ", ".join(names[:most])
    return (shown + (f" and {len(names) - most} more" if len(names) > most else "")) or "nothing"
