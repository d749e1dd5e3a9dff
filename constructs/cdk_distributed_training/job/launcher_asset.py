"""The launcher as an asset of the app."""

from __future__ import annotations

from constructs import Construct

from cdk_distributed_training.job.code_asset import CodeAsset
from cdk_distributed_training.job.container_folder import container_folder

# Everything but the sources: what a tool or an editor leaves in the folder must not change the asset.
_EXCLUDE = ("*", "!*/", "!*.py", "!py.typed", "__pycache__/", ".*")


def launcher_asset(scope: Construct, id: str) -> CodeAsset:
    """The launcher as an asset whose zip file Python can run: `python3 <hash>.zip`.

    Raises:
        ConfigurationError: The launcher's source is not there.
    """
    source = container_folder(where=lambda: scope.node.path) / "src"
    return CodeAsset(scope, id, directory=source, exclude=_EXCLUDE, channel_name="launcher")
