"""Folders of this machine that stand for file systems."""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from pathlib import Path


class FileSystemFolders(ABC):
    """One folder for each file system of a kind.

    Args:
        root: Parent of the folders.
    """

    def __init__(self, root: Path) -> None:
        """No folder is made yet."""
        self._root = root
        self._lifecycles: dict[str, str] = {}

    def set_lifecycle(self, identity: str, lifecycle: str) -> None:
        """Let a file system be in another state than available, such as `CREATING`."""
        self._lifecycles[identity] = lifecycle

    def lifecycle(self, identity: str) -> str:
        """The file system's state, `AVAILABLE` when it can be mounted; empty if there is no such file system."""
        return self._lifecycles.get(identity, "AVAILABLE") if self.exists(identity) else ""

    @abstractmethod
    def exists(self, identity: str) -> bool:
        """Whether there is such a file system."""

    @abstractmethod
    def inside(self, path: str) -> str:
        """Where a directory of a request is in the file system's folder."""

    def load(self, identity: str) -> None:
        """Bring what a file system gets from elsewhere; nothing unless it says so."""
        del identity

    def export(self, identity: str) -> None:
        """Send what a file system passes on; nothing unless it says so."""
        del identity

    def place(self, identity: str, path: str, content: Path) -> None:
        """Put a copy of a folder's content into a directory of the file system."""
        shutil.copytree(content, self._local(identity, path), dirs_exist_ok=True)

    def directory(self, identity: str, path: str) -> Path | None:
        """The folder that stands for a directory; None if there is no such directory."""
        self.load(identity)
        local = self._local(identity, path)
        return local if local.is_dir() else None

    def folder(self, identity: str) -> Path:
        """The folder that stands for the file system."""
        folder = self._root / identity
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _local(self, identity: str, path: str) -> Path:
        return self.folder(identity) / self.inside(path)
