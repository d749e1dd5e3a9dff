"""Making the default process group, and proving that it is one."""

from __future__ import annotations

import importlib
import logging
import os
from datetime import timedelta
from typing import Any, Mapping, Optional

import torch
import torch.distributed as dist

from training_launcher.torch.backends import Facts, choose_backend, installed_packages
from training_launcher.torch.devices import bind_device
from training_launcher.torch.errors import ProcessGroupError
from training_launcher.torch.gloo_threads import wait_for_gloo_threads

DEFAULT_TIMEOUT = timedelta(minutes=10)
"""How long a collective may wait for the slowest rank: NCCL's own default, here for every backend."""

_VARIABLES = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")

logger = logging.getLogger(__name__)


def init_process_group(
    backend: Optional[str] = None, *, timeout: timedelta = DEFAULT_TIMEOUT, pg_options: Optional[Any] = None
) -> torch.device:
    """Make the default process group with the backend that fits, bind this rank's device, prove that all ranks meet.

    The proof is one `all_reduce` of a 1 in every rank, whose sum must be WORLD_SIZE: some backends do nothing at all
    without a word (`xla` on CPUs), and a launcher that starts too few ranks would train on a part of the hosts.

    Args:
        backend: `nccl`, `gloo`, `smddp`, `xla`, `neuron` or a specification such as `cpu:gloo,cuda:nccl`. Default: what
            the launcher says in TRAINING_COLLECTIVES, else `nccl` where torch sees GPUs, else `gloo`.
        timeout: How long a collective may wait for the slowest rank. Default: 10 minutes, whatever the backend.
        pg_options: Options of the backend, passed on to torch.

    Returns:
        The device of this rank, for the model and the data: `cuda:<local rank>`, `cpu`, the XLA or Neuron device.

    Raises:
        ProcessGroupError: The script was not started as a rank of a group, the backend's needs are not met here, there
            is a default group already, or the group that was made is not real (it is destroyed then).

    Source: https://pytorch.org/docs/stable/distributed.html#torch.distributed.init_process_group
    """
    missing = [name for name in _VARIABLES if name not in os.environ]
    if missing:
        raise ProcessGroupError(
            f"{', '.join(missing)} not set: this process was not started as a rank of a group; start the script with "
            "the training launcher or with torchrun"
        )
    if dist.is_initialized():
        raise ProcessGroupError("there is a default process group already; call init_process_group once")
    facts = Facts(os.environ, torch.cuda.device_count(), installed_packages())
    choice = choose_backend(facts, backend)
    for module in choice.backend.modules:
        importlib.import_module(module)
    device = bind_device(choice.backend.device_type, os.environ)
    # Binding lets NCCL connect at once instead of in the first collective; other backends may refuse the argument.
    bound = device if choice.backend.name == "nccl" else None
    dist.init_process_group(choice.specification, timeout=timeout, pg_options=pg_options, device_id=bound)
    try:
        prove_process_group(device, os.environ)
    except ProcessGroupError:
        dist.destroy_process_group()
        raise
    logger.info("backend %s on %s: %s", choice.specification, device, choice.reason)
    return device


def destroy_process_group() -> None:
    """Destroy all process groups, and wait until none of their threads can disturb the script's end.

    Call it last in a script. `torch.distributed.destroy_process_group` alone leaves gloo's threads running where a
    DistributedDataParallel model or anything else still holds the group, and a thread that lets go of a collective's
    tensors while Python goes down aborts a script that has done all its work: "terminate called without an active
    exception". Operations that were started with `async_op=True` must have been waited for. Without a process group it
    does nothing.

    Source: https://github.com/pytorch/pytorch/issues/190489
    """
    if not dist.is_initialized():
        return
    dist.destroy_process_group()
    if not wait_for_gloo_threads():
        logger.warning("a thread of gloo's is still busy; was every async operation waited for?")


def prove_process_group(device: torch.device, environment: Mapping[str, str]) -> None:
    """Check that the default process group has the planned size and that its ranks hear each other.

    Args:
        device: Where the backend's tensors live.
        environment: With WORLD_SIZE and RANK as planned by whoever started the processes.

    Raises:
        ProcessGroupError: The group is smaller or larger than planned, numbers its ranks otherwise, or its collectives
            do not reach every rank.
    """
    backend, size, rank = dist.get_backend(), dist.get_world_size(), dist.get_rank()
    planned_size, planned_rank = int(environment["WORLD_SIZE"]), int(environment["RANK"])
    if (size, rank) != (planned_size, planned_rank):
        raise ProcessGroupError(
            f"backend {backend} sees rank {rank} of {size} where the environment says rank {planned_rank} of "
            f"{planned_size}: the processes have not found each other"
        )
    ones = torch.ones(1, device=device)
    dist.all_reduce(ones)
    total = ones.item()
    if total != planned_size:
        raise ProcessGroupError(
            f"backend {backend} is not connected: all_reduce of a 1 in each of {planned_size} ranks gave {total:g}; "
            "every rank would train alone. The xla backend does this on CPUs: use gloo there"
        )
