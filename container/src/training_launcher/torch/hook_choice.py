"""Which communication hook fits a backend, a wish and the hosts; torch-free.

Measured with torch 2.13 on gloo: the bf16 hook raises, and the PowerSGD hook never ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Optional, Sequence, Tuple

from training_launcher.torch.errors import CommunicationHookError

CARRIED_BY: Dict[str, Tuple[str, ...]] = {"fp16": ("nccl", "gloo"), "bf16": ("nccl",), "powersgd": ("nccl",)}
"""The backends on which torch's hook of each compression is known to work."""

_ON_GLOO = {"bf16": "torch's bf16 hook raises there", "powersgd": "torch's PowerSGD hook never ends there"}


@dataclass(frozen=True)
class HookChoice:
    """How a model's gradients travel.

    Attributes:
        compression: `fp16`, `bf16`, `powersgd`, or None for full precision.
        hierarchical: Whether they are summed inside each host first, so that one rank of a host speaks for all.
        reason: Why, for the log.
    """

    compression: Optional[str]
    hierarchical: bool
    reason: str


def check_wish(*, backend: str, device_type: str, compression: Optional[str], hierarchical: Optional[bool]) -> None:
    """Refuse what the backend does not carry.

    Args:
        backend: The backend that carries tensors of this device.
        device_type: Where the model's parameters are.
        compression: `fp16`, `bf16`, `powersgd` or None.
        hierarchical: The wish of the script; None leaves it open.

    Raises:
        CommunicationHookError: With what to use instead.
    """
    if compression is not None and compression not in CARRIED_BY:
        raise CommunicationHookError(f"compression must be None or one of {', '.join(CARRIED_BY)}, got {compression!r}")
    if compression is not None and backend not in CARRIED_BY[compression]:
        instead = [name for name, backends in CARRIED_BY.items() if backend in backends]
        why = _ON_GLOO[compression] if backend == "gloo" else "torch's hooks are not known to work there"
        raise CommunicationHookError(
            f"compression={compression!r} does not go with backend {backend}: {why}; use compression="
            f"{' or '.join(map(repr, instead)) or None}, or a process group with nccl on GPUs"
        )
    if hierarchical and backend != "gloo":
        raise CommunicationHookError(
            f"hierarchical=True is for gloo only, and this group uses {backend}, which knows the hosts itself (NCCL "
            "builds its rings and trees over them); leave hierarchical out"
        )
    if hierarchical and device_type != "cpu":
        raise CommunicationHookError(
            f"hierarchical=True needs parameters on the CPU, and they are on {device_type}; use nccl there"
        )


def stays_flat(*, backend: str, device_type: str, hierarchical: Optional[bool], whole_world: bool) -> str:
    """Why the gradients need not know the hosts; the empty text if it is worth asking every rank for its host.

    Args:
        backend: The backend that carries tensors of this device.
        device_type: Where the model's parameters are.
        hierarchical: The wish of the script; None leaves it open.
        whole_world: Whether the model's process group has all ranks.
    """
    if hierarchical is False:
        return "hierarchical=False"
    if backend != "gloo":
        return f"{backend} knows the hosts itself"
    if device_type != "cpu":
        return f"parameters on {device_type}"
    if not whole_world:
        # torch makes a group only if all ranks of the world take part, and those of other models may not be here
        return "the model's process group has a part of the ranks only"
    return ""


def choose_hook(*, compression: Optional[str], hosts: Sequence[Sequence[int]]) -> HookChoice:
    """Sum inside the hosts first where that saves bytes: with several hosts, at least one of which has several ranks.

    Args:
        compression: As checked by `check_wish`.
        hosts: The ranks of each host.
    """
    if len(hosts) == 1:
        return HookChoice(compression, False, "all ranks are on one host")
    if all(len(ranks) == 1 for ranks in hosts):
        return HookChoice(compression, False, f"each of the {len(hosts)} hosts has one rank")
    sizes = sorted({len(ranks) for ranks in hosts})
    per_host = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    return HookChoice(compression, True, f"{len(hosts)} hosts with {per_host} ranks each")
