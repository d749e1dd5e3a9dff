"""Every host has data: SageMaker shards objects over hosts, and a file system may be mounted at the wrong folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_LAUNCHERS_OWN = {"launcher", "code"}
_ENOUGH = 2000
"""Folder entries after which a channel without a file so far counts as filled: looking must stay cheap."""


def channels_with_files(base_directory: str, channels: Mapping[str, Any]) -> dict[str, bool]:
    """Channel name to whether it holds at least one file on this host.

    Args:
        base_directory: What SageMaker calls ``/opt/ml``.
        channels: As in inputdataconfig.json; channels in Pipe mode have no folder and are left out.
    """
    data = os.path.join(base_directory, "input/data")
    return {
        name: _has_file(os.path.join(data, name))
        for name, settings in channels.items()
        if name not in _LAUNCHERS_OWN and (settings or {}).get("TrainingInputMode") != "Pipe"
    }


def _has_file(folder: str) -> bool:
    waiting, seen = [folder], 0
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    seen += 1
                    if seen > _ENOUGH or not entry.is_dir():
                        return True
                    waiting.append(entry.path)
        except (FileNotFoundError, NotADirectoryError):  # the channel is not there
            continue
        except OSError:  # may not be listed, and so not be judged
            return True
    return False


def lacking(world: Sequence[str], filled: Mapping[str, Mapping[str, bool]]) -> Iterable[tuple[str, str, str]]:
    """Channels that are empty on one host and filled on another: (channel, host without, host with).

    A channel that is empty everywhere may be meant to be, such as a file system that the job will write to.

    Args:
        world: Hosts that run ranks, the leader first.
        filled: For each host, what `channels_with_files` found there.
    """
    for channel in sorted({name for host in world for name in filled[host]}):
        having = [host for host in world if filled[host].get(channel)]
        without = [host for host in world if filled[host].get(channel) is False]
        if having and without:
            yield channel, without[0], having[0]
