"""One class a launch kind, each in its own file; the files of this folder are the list of kinds."""

from __future__ import annotations

import importlib
import pkgutil

from training_launcher.launchers.base import Launcher


def launcher_kinds() -> dict[str, type[Launcher]]:
    """Every kind by its word on the command line, ordered by it."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return {kind.name: kind for kind in sorted(Launcher.kinds, key=lambda kind: kind.name)}
