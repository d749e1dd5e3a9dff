"""What a job needs of a file system, whoever made it."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from cdk_distributed_training.storage.file_system_interface import IFileSystem
from cdk_distributed_training.storage.lustre_channel import LustreChannel
from cdk_distributed_training.storage.lustre_grants import LustreFileSystemGrants


@runtime_checkable
class ILustreFileSystem(IFileSystem[LustreFileSystemGrants], Protocol):
    """An FSx for Lustre file system that training nodes can reach."""

    @property
    def mount_name(self) -> str:
        """First part of every path that a client mounts."""
        ...

    @property
    def dns_name(self) -> str:
        """Host name that a client mounts."""
        ...

    def channel(self, name: str, *, directory_path: str = "/", access_mode: str = "ro") -> LustreChannel:
        """A job's input channel that mounts a directory of it."""
        ...
