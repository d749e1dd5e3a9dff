"""Folders of this machine that stand for EFS file systems."""

from __future__ import annotations

from moto.efs.models import efs_backends

from cdk_distributed_training.local.aws.file_system_folders import FileSystemFolders
from cdk_distributed_training.local.aws.server import ACCOUNT, REGION


class EfsFolders(FileSystemFolders):
    """A file system is empty until somebody writes to it."""

    def exists(self, identity: str) -> bool:
        """Whether EFS has it."""
        return identity in efs_backends[ACCOUNT][REGION].file_systems_by_id

    def inside(self, path: str) -> str:
        """A directory's path begins at the root."""
        return path.strip("/")
