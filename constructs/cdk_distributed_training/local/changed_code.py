"""Code that was changed after the app was synthesized, and so does not run."""

from __future__ import annotations

import os
from pathlib import Path

# folders that no job ships and that change by themselves
_NOT_CODE = {".git", ".venv", "venv", "cdk.out", "local-runs", "node_modules", "__pycache__"}


def changed_code(assembly: Path, source_folder: str | None) -> Path | None:
    """The file of a job's source folder that was changed last, if that was after the synthesis.

    Args:
        assembly: The assembly's folder.
        source_folder: The job's source folder as the app saw it, relative to where the app ran, which is where the
            assembly's folder is by default; `None` if that is not known.

    Returns:
        The file, or None if there is none or the folder is not on this machine.
    """
    if source_folder is None:
        return None
    synthesized = (assembly / "manifest.json").stat().st_mtime
    newest, changed = synthesized, None
    for folder, folders, files in os.walk(assembly.absolute().parent / source_folder):
        folders[:] = [name for name in folders if name not in _NOT_CODE]
        for name in files:
            path = Path(folder, name)
            try:
                written = path.stat().st_mtime
            except OSError:  # it went away, or is a link to nothing
                continue
            if written > newest:
                newest, changed = written, path
    return changed
