"""The channels of a request that a machine mounts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk

from cdk_distributed_training.engines.multi_node.user_data import LustreMount

_FOLDER = "/mnt/channels"


def lustre_mounts(request: Mapping[str, Any], stack: cdk.Stack) -> list[LustreMount]:
    """One mount for each channel of a file system.

    Args:
        request: The `CreateTrainingJob` request without a name.
        stack: The machines' stack, for the region's addresses.
    """
    return [
        LustreMount(
            source=f"{system['FileSystemId']}.fsx.{stack.region}.{stack.url_suffix}@tcp:{system['DirectoryPath']}",
            folder=f"{_FOLDER}/{channel['ChannelName']}",
            channel_name=channel["ChannelName"],
            read_only=system.get("FileSystemAccessMode", "ro") == "ro",
        )
        for channel in request.get("InputDataConfig", ())
        for system in [channel["DataSource"].get("FileSystemDataSource")]
        if system is not None
    ]
