"""The launcher's folders, wherever this library is installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from cdk_distributed_training.checks.findings import raise_errors
from cdk_distributed_training.checks.rules import source_code
from cdk_distributed_training.request.launcher_folder import PLACES, find_container_folder


def container_folder(*, where: str | Callable[[], str]) -> Path:
    """The folder with the Dockerfile and, in `src`, the launcher.

    Args:
        where: Path of the construct that asks, or what tells it, for the error.

    Raises:
        ConfigurationError: The folder is in neither place.
    """
    found = find_container_folder()
    raise_errors(source_code.launcher_source([str(place) for place in PLACES], found=found is not None), where=where)
    assert found is not None  # noqa: S101  else an error was raised
    return found
