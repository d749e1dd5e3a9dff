"""What a start on new data knows of a file system's data repository."""

from __future__ import annotations

from typing import Protocol

from aws_cdk import aws_s3 as s3


class IDataRepository(Protocol):
    """A prefix of a bucket that a file system imports, as `LustreFileSystem.add_data_repository` gives it."""

    @property
    def bucket(self) -> s3.IBucket:
        """The bucket."""

    @property
    def key_prefix(self) -> str:
        """With what the keys of its objects begin; empty for the whole bucket."""

    @property
    def imports_new(self) -> bool:
        """Whether new objects reach the file system by themselves."""
