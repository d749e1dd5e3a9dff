"""What a job needs of an EFS file system, whoever made it."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from cdk_distributed_training.storage.efs_channel import EfsChannel
from cdk_distributed_training.storage.efs_grants import EfsFileSystemGrants
from cdk_distributed_training.storage.file_system_interface import IFileSystem


@runtime_checkable
class IEfsFileSystem(IFileSystem[EfsFileSystemGrants], Protocol):
    """An EFS file system that training nodes can reach."""

    def channel(self, name: str, *, directory_path: str = "/", access_mode: str = "ro") -> EfsChannel:
        """A job's input channel that mounts a directory of it."""
        ...
