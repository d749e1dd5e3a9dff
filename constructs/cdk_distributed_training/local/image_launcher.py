"""Jobs whose image has the launcher for its entry point: this library's own launcher stands in for the image's."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cdk_distributed_training.local.errors import LocalModeError
from cdk_distributed_training.request.launcher_arguments import ARGUMENTS_VARIABLE
from cdk_distributed_training.request.launcher_folder import find_container_folder

FOLDER = "launcher"
"""Where the hosts find it, below /opt/ml."""
_RUN = 'exec python3 -u "${SAGEMAKER_BASE_DIR:-/opt/ml}/launcher" "$@"'


def launcher_of_image() -> Path:
    """The folder that Python runs as the launcher.

    Raises:
        LocalModeError: This installation of the library has none.
    """
    found = find_container_folder()
    if found is None:
        raise LocalModeError("the job's image has the launcher inside, and this installation of the library has none")
    return found / "src"


def with_command(request: Mapping[str, Any]) -> dict[str, Any]:
    """The request with the command that the image leaves to its entry point."""
    changed = copy.deepcopy(dict(request))
    algorithm = changed["AlgorithmSpecification"]
    algorithm["ContainerEntrypoint"] = ["sh", "-c", _RUN, FOLDER]
    in_environment = changed.get("Environment", {}).pop(ARGUMENTS_VARIABLE, None)
    if in_environment is not None and not algorithm.get("ContainerArguments"):
        algorithm["ContainerArguments"] = json.loads(in_environment)
    return changed
