"""One class a launch kind, each in its own file; the files of this folder are the list of kinds."""

from __future__ import annotations

import importlib
import os
import sys

from training_launcher.launchers.base import Launcher


def launcher_kinds(word: str = "") -> dict[str, type[Launcher]]:
    """Every kind by its word on the command line, ordered by it.

    Args:
        word: Where it is a kind's, the answer is that kind alone, and the files of the others are not read: they would
            take a seventh of the launcher's start.
    """
    modules = _modules()
    alone = word.replace("-", "_")  # a kind's file is called as its word
    for name in [alone] if alone in modules else modules:
        importlib.import_module(f"{__name__}.{name}")
    kinds = {kind.name: kind for kind in sorted(Launcher.kinds, key=lambda kind: kind.name)}
    return {word: kinds[word]} if word in kinds else kinds


def _modules() -> list[str]:
    """Names of the kinds' files in this folder, in a zip too; `pkgutil` would load twenty modules for it."""
    (folder,) = __path__
    if os.path.isdir(folder):
        names = os.listdir(folder)
    else:
        archive = __loader__.archive  # type: ignore[name-defined]
        # the one list of a zip's files that Python itself keeps, and pkgutil reads
        listing = sys.modules["zipimport"]._zip_directory_cache[archive]
        inside = folder[len(archive) + 1 :] + os.sep
        names = [path[len(inside) :] for path in listing if path.startswith(inside)]
    kinds = (name for name in names if name.endswith(".py") and name not in ("__init__.py", "base.py"))
    return sorted(name[:-3] for name in kinds if os.sep not in name)
