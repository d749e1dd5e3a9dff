"""Import from the launcher's zip in half the time."""

from __future__ import annotations

import sys
import zipimport


class _CompilesOnce(zipimport.zipimporter):
    """Python's own importer compiles every module twice: once to say which file it is of, and once to run it."""

    def get_filename(self, fullname: str) -> str:
        """As Python's own, which looks whether a compiled file is there; in the launcher's zip there are none."""
        file = f"{self.archive}/{self.prefix}{fullname.rpartition('.')[2]}"
        return f"{file}/__init__.py" if self.is_package(fullname) else f"{file}.py"


def compile_once() -> None:
    """Take this importer for whatever is imported from zips from now on."""
    sys.path_hooks[:] = [_CompilesOnce if hook is zipimport.zipimporter else hook for hook in sys.path_hooks]
    for path, importer in list(sys.path_importer_cache.items()):
        if type(importer) is zipimport.zipimporter:
            del sys.path_importer_cache[path]
