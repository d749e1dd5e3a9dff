"""Links between directories of a file system and prefixes of a bucket."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import aws_cdk as cdk
from aws_cdk import aws_s3 as s3

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules import data_repositories


class DataRepositoryEvent(enum.Enum):
    """What happens to a file or object, as far as the other side hears of it."""

    NEW = "NEW"
    """It was added."""
    CHANGED = "CHANGED"
    """Its content or metadata changed."""
    DELETED = "DELETED"
    """It was removed."""


@dataclass(frozen=True, kw_only=True)
class DataRepository:
    """A link, as `LustreFileSystem.add_data_repository` gives it; engines start runs by what is new in it.

    Attributes:
        bucket: The bucket.
        prefix: The prefix in the bucket, as the user wrote it.
        file_system_path: The directory of the file system.
        auto_import: Events in the bucket that change the directory.
        auto_export: Events in the directory that change the bucket.
        batch_import: Whether names and sizes of all objects are read when the link is made.
        imported_file_chunk_size: Most data of an imported file on one disk; FSx's own choice if `None`.
    """

    bucket: s3.IBucket
    prefix: str
    file_system_path: str
    auto_import: Sequence[DataRepositoryEvent]
    auto_export: Sequence[DataRepositoryEvent]
    batch_import: bool
    imported_file_chunk_size: cdk.Size | None

    @property
    def key_prefix(self) -> str:
        """With what the keys of its objects begin; empty for the whole bucket."""
        ends = not self.prefix or cdk.Token.is_unresolved(self.prefix) or self.prefix.endswith("/")
        return self.prefix if ends else f"{self.prefix}/"

    @property
    def s3_uri(self) -> str:
        """The bucket's side."""
        return f"s3://{self.bucket.bucket_name}/{self.key_prefix}"

    @property
    def imports_new(self) -> bool:
        """Whether new objects reach the file system by themselves."""
        return DataRepositoryEvent.NEW in self.auto_import

    @property
    def has_events(self) -> bool:
        """Whether one side hears of the other's changes."""
        return bool(self.auto_import or self.auto_export)

    def findings(self) -> Iterator[Finding]:
        """What is wrong with this link by itself."""
        if not cdk.Token.is_unresolved(self.prefix):
            yield from data_repositories.repository_prefix(self.prefix)
        if not cdk.Token.is_unresolved(self.file_system_path):
            yield from data_repositories.repository_path(self.file_system_path)
        chunk = self.imported_file_chunk_size
        if chunk is not None and not chunk.is_unresolved():
            yield from data_repositories.chunk_size(chunk.to_mebibytes(rounding=cdk.SizeRoundingBehavior.NONE))
