"""How the gradients of a DistributedDataParallel model travel between the ranks."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Callable, Dict, List, Optional

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook
from torch.nn.parallel import DistributedDataParallel

from training_launcher.torch.hierarchical import CHUNK_BYTES, HierarchicalAllReduce, hierarchical_hook
from training_launcher.torch.hook_choice import HookChoice, check_wish, choose_hook, stays_flat
from training_launcher.torch.hosts import host_name, ranks_by_host
from training_launcher.torch.process_group import DEFAULT_TIMEOUT

logger = logging.getLogger(__name__)


def communication_hook(
    ddp: DistributedDataParallel,
    *,
    compression: Optional[str] = None,
    hierarchical: Optional[bool] = None,
    powersgd_rank: int = 1,
    powersgd_start: int = 1000,
    chunk_bytes: int = CHUNK_BYTES,
    timeout: timedelta = DEFAULT_TIMEOUT,
) -> HookChoice:
    """Register the communication hook that fits the model's process group; every rank of it calls this with the same.

    With NCCL these are torch's own hooks and nothing else: NCCL finds the hosts, and the best way between them, itself.
    With gloo the gradients are summed inside each host, then between the hosts' first ranks, and then handed out inside
    each host: 2 S (N - 1) / N bytes leave each of N hosts for S bytes of gradients, instead of 2 S (W - 1) / W with W
    ranks, and half of that with `fp16`, which then is used between the hosts and on the way back only.

    Args:
        ddp: The model, before its first backward pass and without another hook.
        compression: None, `fp16` (NCCL, gloo), `bf16` (NCCL) or `powersgd` (NCCL).
        hierarchical: False never sums inside hosts first. Default and True: where there are several hosts, at least one
            of which has several ranks, and the model's process group has all ranks; otherwise the flat all-reduce is
            used, and the result says why. True is refused where the backend is not gloo.
        powersgd_rank: Rank of PowerSGD's approximation; higher is closer to the gradients and sends more.
        powersgd_start: Steps before PowerSGD begins; until then the gradients travel in full.
        chunk_bytes: Size of the pieces in which a bucket of gradients goes through the hierarchical stages.
        timeout: How long a hierarchical stage may wait for the slowest rank.

    Returns:
        What was chosen and why.

    Raises:
        CommunicationHookError: The backend does not carry what was asked for; the text says what to use instead.

    Source: https://pytorch.org/docs/stable/ddp_comm_hooks.html
    """
    group = ddp.process_group
    device_type = next(ddp.module.parameters()).device.type
    backend = _backend(group, device_type)
    check_wish(backend=backend, device_type=device_type, compression=compression, hierarchical=hierarchical)
    whole_world = dist.get_world_size(group) == dist.get_world_size()
    flat = stays_flat(backend=backend, device_type=device_type, hierarchical=hierarchical, whole_world=whole_world)
    hosts = [] if flat else _hosts(group)
    choice = HookChoice(compression, False, flat) if flat else choose_hook(compression=compression, hosts=hosts)
    if choice.hierarchical:
        wire_dtype = torch.float16 if compression else None
        state = HierarchicalAllReduce(hosts, wire_dtype=wire_dtype, chunk_bytes=chunk_bytes, timeout=timeout)
        ddp.register_comm_hook(state, hierarchical_hook)
    elif compression == "powersgd":
        settings = powerSGD_hook.PowerSGDState(
            process_group=group, matrix_approximation_rank=powersgd_rank, start_powerSGD_iter=powersgd_start
        )
        ddp.register_comm_hook(settings, powerSGD_hook.powerSGD_hook)
    elif compression is not None:
        ddp.register_comm_hook(group, _HOOKS[compression])
    logger.info("gradients: compression %s, hierarchical %s: %s", compression, choice.hierarchical, choice.reason)
    return choice


_HOOKS: Dict[str, Callable[..., torch.futures.Future[torch.Tensor]]] = {
    "bf16": default_hooks.bf16_compress_hook,
    "fp16": default_hooks.fp16_compress_hook,
}


def _backend(group: dist.ProcessGroup, device_type: str) -> str:
    """The backend that carries this device's tensors in a group, which may have one for each device type."""
    pairs = dict(pair.split(":") for pair in dist.get_backend_config(group).split(","))
    return pairs.get(device_type, dist.get_backend(group))


def _hosts(group: dist.ProcessGroup) -> List[List[int]]:
    names: List[str] = [""] * dist.get_world_size(group)
    dist.all_gather_object(names, host_name(), group=group)
    return ranks_by_host(names, dist.get_process_group_ranks(group))
