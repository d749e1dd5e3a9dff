"""The launcher's folders, wherever this library is installed."""

from __future__ import annotations

from pathlib import Path

from cdk_distributed_training.checks.findings import raise_errors
from cdk_distributed_training.checks.rules import source_code

_PACKAGE = Path(__file__).parents[1]
# in a wheel the folder is packed into the library, in a checkout it stands beside it
_PLACES = (_PACKAGE / "container", _PACKAGE.parents[1] / "container")


def container_folder(*, where: str) -> Path:
    """The folder with the Dockerfile and, in `src`, the launcher.

    Args:
        where: Path of the construct that asks, for the error.

    Raises:
        ConfigurationError: The folder is in neither place.
    """
    found = [place for place in _PLACES if (place / "src" / "__main__.py").is_file()]
    raise_errors(source_code.launcher_source([str(place) for place in _PLACES], found=bool(found)), where=where)
    return found[0]
