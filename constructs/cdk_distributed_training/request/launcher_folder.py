"""Where this library's installation has the launcher."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
# in a wheel the folder is packed into the library, in a checkout it stands beside it
PLACES = (_PACKAGE / "container", _PACKAGE.parents[1] / "container")


def find_container_folder() -> Path | None:
    """The folder with the Dockerfile and, in `src`, the launcher; None if it is in neither place."""
    return next((place for place in PLACES if (place / "src" / "__main__.py").is_file()), None)
