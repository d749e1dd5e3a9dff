"""What a channel's folder holds on this machine, and how it gets to the hosts."""

from __future__ import annotations

import abc
import difflib
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cdk_distributed_training.local.assembly import SynthesizedAsset
from cdk_distributed_training.local.errors import LocalModeError
from cdk_distributed_training.local.hosts import Hosts


class ChannelSource(abc.ABC):
    """Where the data of a channel comes from."""

    @abc.abstractmethod
    def place(self, hosts: Hosts, channel: str, *, sharded: bool = False) -> None:
        """Make the data appear in `input/data/<channel>` of every host; of each file on one host only if sharded."""


class FolderSource(ChannelSource):
    """A folder of this machine that stands for the channel's S3 prefix or file system directory.

    Args:
        folder: The folder, which must exist when it is placed.
        writable: Whether the hosts may write to it.
    """

    def __init__(self, folder: Path, *, writable: bool = False) -> None:
        """Remember the folder."""
        self.folder = folder
        self._writable = writable

    def place(self, hosts: Hosts, channel: str, *, sharded: bool = False) -> None:
        """Share the folder with every host, or copy each host its own part of the files."""
        if not sharded:
            for host in hosts.names:
                hosts.share(host, self.folder, data_path(channel), writable=self._writable)
            return
        files = sorted(path.relative_to(self.folder) for path in self.folder.rglob("*") if path.is_file())
        for number, file in enumerate(files):
            host = hosts.names[number % len(hosts.names)]
            copy = hosts.opt_ml(host) / data_path(channel) / file
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(self.folder / file, copy)
        for host in hosts.names:
            (hosts.opt_ml(host) / data_path(channel)).mkdir(parents=True, exist_ok=True)


class AssetSource(ChannelSource):
    """An asset of the synthesized app; lands as one file named as its object key, as from a whole-key S3 prefix."""

    def __init__(self, asset: SynthesizedAsset) -> None:
        """Remember the asset."""
        self.asset = asset

    def place(self, hosts: Hosts, channel: str, *, sharded: bool = False) -> None:
        """Copy the file to every host (to the first only if sharded); a folder is zipped, as an upload would do."""
        if not self.asset.path.exists():
            raise LocalModeError(f"the asset of channel {channel}, {self.asset.path}, is missing: synthesize again")
        name = self.asset.object_key.rsplit("/", 1)[-1]
        first = hosts.opt_ml(hosts.names[0]) / data_path(channel) / name
        for host in hosts.names:
            (hosts.opt_ml(host) / data_path(channel)).mkdir(parents=True, exist_ok=True)
        if self.asset.packaging == "zip":
            zip_folder(self.asset.path, first)
        else:
            shutil.copy2(self.asset.path, first)
        for host in hosts.names[1:] if not sharded else ():
            shutil.copy2(first, hosts.opt_ml(host) / data_path(channel) / name)


def data_path(channel: str) -> str:
    """The channel's folder, relative to /opt/ml."""
    return f"input/data/{channel}"


def zip_folder(folder: Path, archive: Path) -> None:
    """Zip a folder's files with their modes, links followed, in one order: what the CDK does to an asset."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as target:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                target.write(path, path.relative_to(folder))


def plan_channels(
    request: Mapping[str, Any], assets: Mapping[str, SynthesizedAsset], folders: Mapping[str, Path]
) -> dict[str, ChannelSource]:
    """Find a source for every channel of a request.

    Args:
        request: The request, with its intrinsics evaluated.
        assets: The app's assets by object key.
        folders: Channel name -> folder of this machine; wins over an asset.

    Raises:
        LocalModeError: A channel has no source, a folder is missing, or a name is no channel of the job.
    """
    channels = {channel["ChannelName"]: channel for channel in request.get("InputDataConfig", [])}
    problems = [_unknown(name, list(channels)) for name in folders if name not in channels]
    sources: dict[str, ChannelSource] = {}
    for name, channel in channels.items():
        asset = assets.get(object_key(channel) or "")
        if name in folders:
            if not folders[name].is_dir():
                there = folders[name].exists()
                what = f"is a file, not a folder: give the folder {folders[name].parent}" if there else "does not exist"
                problems.append(f"--channel {name}={folders[name]}: {folders[name]} {what}")
            sources[name] = FolderSource(folders[name])
        elif asset is not None:
            sources[name] = AssetSource(asset)
        else:
            problems.append(
                f"channel {name} reads {origin(channel)}, which is not on this machine: "
                f"give it a folder with --channel {name}=FOLDER"
            )
    if problems:
        raise LocalModeError("\n".join(problems))
    return sources


def object_key(channel: Mapping[str, Any]) -> str | None:
    """The key, or key prefix, of the channel's S3 source."""
    uri = channel["DataSource"].get("S3DataSource", {}).get("S3Uri", "")
    return str(uri).removeprefix("s3://").partition("/")[2] or None


def origin(channel: Mapping[str, Any]) -> str:
    """Where the channel's data is on AWS, in words."""
    source = channel["DataSource"]
    if "S3DataSource" in source:
        return str(source["S3DataSource"].get("S3Uri"))
    system = source.get("FileSystemDataSource", {})
    return f"{system.get('DirectoryPath')} on file system {system.get('FileSystemId')}"


def is_sharded(channel: Mapping[str, Any]) -> bool:
    """Whether every host gets only its own part of the objects."""
    source: dict[str, Any] = channel["DataSource"].get("S3DataSource", {})
    return source.get("S3DataDistributionType") == "ShardedByS3Key"


def _unknown(name: str, channels: list[str]) -> str:
    near = difflib.get_close_matches(name, channels, n=1)
    hint = f"did you mean {near[0]}?" if near else f"its channels are {', '.join(channels) or 'none'}"
    return f"--channel {name}: the job has no channel {name}; {hint}"
