"""Folders of this machine that stand for FSx for Lustre file systems."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from moto.fsx.models import fsx_backends

from cdk_distributed_training.local.aws import s3_folders
from cdk_distributed_training.local.aws.additions.recorded_resources import recorded
from cdk_distributed_training.local.aws.server import ACCOUNT, REGION

_ASSOCIATION = "AWS::FSx::DataRepositoryAssociation"


class LustreFolders:
    """One folder for each file system; what its data repositories hold is loaded when a directory is asked for.

    Args:
        root: Parent of the folders.
    """

    def __init__(self, root: Path) -> None:
        """No folder is made yet."""
        self._root = root
        self._lifecycles: dict[str, str] = {}

    def set_lifecycle(self, identity: str, lifecycle: str) -> None:
        """Let a file system be in another state than `AVAILABLE`, such as `CREATING`."""
        self._lifecycles[identity] = lifecycle

    def lifecycle(self, identity: str) -> str:
        """The file system's state; empty if there is no such file system."""
        if identity not in fsx_backends[ACCOUNT][REGION].file_systems:
            return ""
        return self._lifecycles.get(identity, "AVAILABLE")

    def place(self, identity: str, path: str, content: Path) -> None:
        """Put a copy of a folder's content into a directory of the file system."""
        shutil.copytree(content, self._local(identity, path), dirs_exist_ok=True)

    def directory(self, identity: str, path: str) -> Path | None:
        """The folder that stands for a directory, `/<mount name>/...`; None if there is no such directory."""
        for association in self._associations(identity):
            inside = str(association.get("FileSystemPath", "/")).strip("/")
            uri = str(association["DataRepositoryPath"]).rstrip("/") + "/"
            s3_folders.download(uri, self._folder(identity) / inside)
        local = self._local(identity, path)
        return local if local.is_dir() else None

    def _local(self, identity: str, path: str) -> Path:
        """A directory's path begins with the mount name, which is no folder."""
        return self._folder(identity) / path.strip("/").partition("/")[2]

    def _folder(self, identity: str) -> Path:
        folder = self._root / identity
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _associations(self, identity: str) -> list[Mapping[str, Any]]:
        return [
            resource.properties
            for resource in recorded(_ASSOCIATION)
            if resource.properties.get("FileSystemId") == identity
        ]
