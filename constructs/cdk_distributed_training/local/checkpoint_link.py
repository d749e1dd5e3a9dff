"""Checkpoints at another place than `/opt/ml/checkpoints`, which is a link to that folder on local hosts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cdk_distributed_training.local.errors import LocalModeError
from cdk_distributed_training.local.hosts import Hosts
from cdk_distributed_training.local.results import CHECKPOINTS

_USUAL = Path("/opt/ml") / CHECKPOINTS


def link_checkpoints(request: Mapping[str, Any], hosts: Hosts) -> None:
    """Let every host find its checkpoints where the request says.

    Raises:
        LocalModeError: The place is not the host's own, or something else is there.
    """
    path = Path(request.get("CheckpointConfig", {}).get("LocalPath", _USUAL))
    if path == _USUAL:
        return
    for host in hosts.names:
        link = hosts.own_path(host, path)
        if link is None or _USUAL in path.parents:
            raise LocalModeError(
                f"CheckpointConfig.LocalPath is {path}: on hosts of the kind {hosts.kind}, checkpoints can be at "
                f"{_USUAL} and at {' and '.join(hosts.own_places)}, not inside of each other; choose such a path"
            )
        target = os.path.relpath(hosts.opt_ml(host) / CHECKPOINTS, link.parent)
        if Path("/opt/ml") not in path.parents:
            # outside of /opt/ml the host sees other paths than this machine does
            target = str(_USUAL)
        try:
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(target, target_is_directory=True)
        except FileExistsError:
            raise LocalModeError(
                f"CheckpointConfig.LocalPath is {path}, which is a folder of another purpose: choose one that is not"
            ) from None
