"""Channels whose data is in the emulation: S3 prefixes and directories of file systems."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cdk_distributed_training.local.aws import s3_folders
from cdk_distributed_training.local.aws.file_system_folders import FileSystemFolders
from cdk_distributed_training.local.channels import ChannelSource, FolderSource, data_path
from cdk_distributed_training.local.hosts import Hosts


class JobRefusedError(Exception):
    """The job fails before it trains; the text is SageMaker's kind of FailureReason."""


class S3Source(ChannelSource):
    """Objects under a prefix, copied to every host.

    Args:
        uri: The prefix, or a whole key.
    """

    def __init__(self, uri: str) -> None:
        """Remember the prefix."""
        self._uri = uri

    def place(self, hosts: Hosts, channel: str, *, sharded: bool = False) -> None:
        """Download once for each host; each host gets its own part of the files if sharded.

        Raises:
            JobRefusedError: There is no object under the prefix.
        """
        with tempfile.TemporaryDirectory() as folder:
            try:
                found = s3_folders.download(self._uri, Path(folder))
            except s3_folders.no_such_bucket() as error:
                raise JobRefusedError(f"ClientError: Data download failed:{error}") from None
            if not found:
                raise JobRefusedError(
                    "ClientError: Data download failed:No S3 objects found under S3 URL "
                    f'"{self._uri}" given in input data source.'
                )
            _copy(Path(folder), found, hosts, channel, sharded=sharded)


class FileSystemSource(ChannelSource):
    """A directory of a file system, which all hosts share.

    Args:
        folders: The folders that stand for file systems.
        source: `FileSystemDataSource` of the request.
        patience: Seconds to wait for a file system that is not available yet.
    """

    def __init__(self, folders: FileSystemFolders, source: Mapping[str, Any], *, patience: float) -> None:
        """Remember the directory."""
        self._folders = folders
        self._source = source
        self._patience = patience

    def place(self, hosts: Hosts, channel: str, *, sharded: bool = False) -> None:
        """Mount the directory.

        Raises:
            JobRefusedError: The file system does not exist or does not become available, or the directory is missing.
        """
        del sharded
        identity, path = self._source["FileSystemId"], self._source["DirectoryPath"]
        deadline = time.monotonic() + self._patience
        while (lifecycle := self._folders.lifecycle(identity)) != "AVAILABLE":
            if lifecycle in ("", "FAILED", "DELETING") or time.monotonic() > deadline:
                raise JobRefusedError(
                    f"ClientError: Unable to mount file system {identity}: "
                    + (f"it is {lifecycle}, not AVAILABLE" if lifecycle else "it does not exist")
                )
            time.sleep(0.1)
        folder = self._folders.directory(identity, path)
        if folder is None:
            raise JobRefusedError(f"ClientError: Unable to mount file system {identity}: it has no directory {path}")
        FolderSource(folder, writable=self._source["FileSystemAccessMode"] == "rw").place(hosts, channel)


def channel_sources(
    request: Mapping[str, Any], folders: Mapping[str, FileSystemFolders], *, patience: float
) -> dict[str, ChannelSource]:
    """A source for every channel of a request that reached the API.

    Args:
        request: The request.
        folders: FileSystemType -> what stands for file systems of that type.
        patience: Seconds to wait for a file system that is not available yet.
    """
    sources: dict[str, ChannelSource] = {}
    for channel in request.get("InputDataConfig", []):
        source = channel["DataSource"]
        if "S3DataSource" in source:
            sources[channel["ChannelName"]] = S3Source(source["S3DataSource"]["S3Uri"])
        else:
            system = source["FileSystemDataSource"]
            sources[channel["ChannelName"]] = FileSystemSource(
                folders[system["FileSystemType"]], system, patience=patience
            )
    return sources


def _copy(folder: Path, found: list[str], hosts: Hosts, channel: str, *, sharded: bool) -> None:
    for host in hosts.names:
        (hosts.opt_ml(host) / data_path(channel)).mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(sorted(found)):
        content = (folder / name).read_bytes()
        for host in [hosts.names[number % len(hosts.names)]] if sharded else hosts.names:
            copy = hosts.opt_ml(host) / data_path(channel) / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(content)
