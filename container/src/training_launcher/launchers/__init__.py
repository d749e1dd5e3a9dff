"""One class a launch kind, each in its own file; the files of this folder are the list of kinds."""

from __future__ import annotations

import importlib
import os
import sys

from training_launcher.launchers.base import Launcher


def launcher_kinds() -> dict[str, type[Launcher]]:
    """Every kind by its word on the command line, ordered by it."""
    for name in _modules():
        importlib.import_module(f"{__name__}.{name}")
    return {kind.name: kind for kind in sorted(Launcher.kinds, key=lambda kind: kind.name)}


def _modules() -> list[str]:
    """Names of the files of this folder, in a zip too; `pkgutil` would load twenty modules for it."""
    (folder,) = __path__
    if os.path.isdir(folder):
        names = os.listdir(folder)
    else:
        archive = next(path for path in sys.path_importer_cache if path and folder.startswith(path + os.sep))
        # the one list of a zip's files that Python itself keeps, and pkgutil reads
        listing = sys.modules["zipimport"]._zip_directory_cache[archive]
        inside = folder[len(archive) + 1 :] + os.sep
        names = [path[len(inside) :] for path in listing if path.startswith(inside)]
    return sorted(name[:-3] for name in names if name.endswith(".py") and name != "__init__.py" and os.sep not in name)
