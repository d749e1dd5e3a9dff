"""How the training reads its channels: local mode has files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cdk_distributed_training.local.errors import LocalModeError


def refuse_pipes(request: Mapping[str, Any]) -> None:
    """Refuse channels that SageMaker streams through named pipes.

    Raises:
        LocalModeError: Names every such channel.
    """
    mode = request["AlgorithmSpecification"].get("TrainingInputMode")
    channels = request.get("InputDataConfig", [])
    piped = [channel["ChannelName"] for channel in channels if channel.get("InputMode", mode) == "Pipe"]
    if piped:
        several = "channels" if len(piped) > 1 else "channel"
        raise LocalModeError(
            f"{several} {', '.join(piped)}: input mode Pipe streams the data through named pipes, which local mode "
            "does not have: run the job locally with input mode FastFile or File, by which the script opens files"
        )
