"""A folder of a file system, as a channel's source."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from cdk_distributed_training.request.request_part import RequestPart, spelled


@dataclass(frozen=True, kw_only=True)
class FileSystemDataSource(RequestPart):
    """A folder that every host mounts; the job takes a `VpcConfig` from which the file system can be reached.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_FileSystemDataSource.html

    Attributes:
        file_system_id: Such as `fs-0123456789abcdef0`.
        file_system_type: `FSxLustre` or `EFS`.
        directory_path: The folder: for Lustre `/`, the mount name, and the folder; for EFS the folder.
        access_mode: `ro` to read, `rw` to read and write.
    """

    file_system_id: str = field(metadata=spelled("FileSystemId"))
    file_system_type: Literal["FSxLustre", "EFS"] = field(metadata=spelled("FileSystemType"))
    directory_path: str = field(metadata=spelled("DirectoryPath"))
    access_mode: str = field(default="ro", metadata=spelled("FileSystemAccessMode"))
