"""Which GPU belongs to a rank; torch-free."""

from __future__ import annotations

from typing import Mapping

from training_launcher.torch.errors import ProcessGroupError


def cuda_index(environment: Mapping[str, str], device_count: int) -> int:
    """Index of this rank's GPU among those that the process sees.

    It is `LOCAL_RANK`; or 0 where the process sees exactly one GPU because CUDA_VISIBLE_DEVICES was set for each rank.

    Args:
        environment: The process's environment variables.
        device_count: GPUs that the process sees.

    Raises:
        ProcessGroupError: There are more ranks on the host than GPUs (NCCL refuses two ranks on one GPU).
    """
    local_rank = int(environment["LOCAL_RANK"])
    if local_rank < device_count:
        return local_rank
    if device_count == 1 and environment.get("CUDA_VISIBLE_DEVICES"):
        return 0
    raise ProcessGroupError(
        f"local rank {local_rank} has no GPU of its own: the process sees {device_count}; start at most one process "
        "per GPU (--nproc-per-node auto)"
    )
