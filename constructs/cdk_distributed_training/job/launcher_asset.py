"""The launcher's source folder, wherever this library is installed."""

from __future__ import annotations

from pathlib import Path

from constructs import Construct

from cdk_distributed_training.checks.findings import Finding, raise_errors
from cdk_distributed_training.job.code_asset import CodeAsset

_PACKAGE = Path(__file__).parents[1]
# in a wheel the folder is packed into the library, in a checkout it stands beside it
_PLACES = (_PACKAGE / "container" / "src", _PACKAGE.parents[1] / "container" / "src")
_EXCLUDE = ("__pycache__", "*.pyc", "*.egg-info")


def launcher_asset(scope: Construct, id: str) -> CodeAsset:
    """The launcher as an asset whose zip file Python can run: `python3 <hash>.zip`.

    Raises:
        ConfigurationError: The folder is in neither place.
    """
    found = [place for place in _PLACES if (place / "__main__.py").is_file()]
    if not found:
        raise_errors([_missing()], where=scope.node.path)
    return CodeAsset(scope, id, directory=found[0], exclude=_EXCLUDE, channel_name="launcher")


def _missing() -> Finding:
    return Finding(
        rule="DT804",
        prop="container/src",
        got="no __main__.py in " + " nor ".join(str(place) for place in _PLACES),
        allowed="the launcher's source",
        fix="install the library again, or check the repository out whole",
    )
