"""The backends of `torch.distributed` that a training job may use, and the choice among them; torch-free.

Sources: https://pytorch.org/docs/stable/distributed.html (gloo, nccl),
https://docs.aws.amazon.com/sagemaker/latest/dg/data-parallel-modify-sdp-pt.html (smddp),
https://awsdocs-neuron.readthedocs-hosted.com/en/latest/torch/guides/torch-distributed.html (neuron).
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Dict, FrozenSet, List, Mapping, Optional, Tuple

from training_launcher.torch.errors import ProcessGroupError

COLLECTIVES_VARIABLE = "TRAINING_COLLECTIVES"
"""The launcher leaves its own choice of collectives, one of `BACKENDS`, in this environment variable."""


@dataclass(frozen=True)
class Backend:
    """One backend.

    Attributes:
        name: As `torch.distributed` spells it.
        device_type: Type of the device on which its collectives run.
        package: Top-level package that brings the backend; None if torch does.
        modules: Modules to import before the backend is known to torch.
    """

    name: str
    device_type: str
    package: Optional[str] = None
    modules: Tuple[str, ...] = ()


BACKENDS: Dict[str, Backend] = {
    backend.name: backend
    for backend in (
        Backend("gloo", "cpu"),
        Backend("nccl", "cuda"),
        Backend("smddp", "cuda", "smdistributed", ("smdistributed.dataparallel.torch.torch_smddp",)),
        Backend("xla", "xla", "torch_xla", ("torch_xla", "torch_xla.distributed.xla_backend")),
        Backend("neuron", "neuron", "torch_neuronx", ("torch_neuronx",)),
    )
}


@dataclass(frozen=True)
class Facts:
    """What the choice depends on.

    Attributes:
        environment: The process's environment variables.
        cuda_devices: GPUs that torch sees.
        packages: Those of the backends' packages that are installed.
    """

    environment: Mapping[str, str]
    cuda_devices: int
    packages: FrozenSet[str]


@dataclass(frozen=True)
class BackendChoice:
    """The backend that was taken.

    Attributes:
        backend: The one whose device the process is bound to.
        specification: What `torch.distributed.init_process_group` gets, such as `nccl` or `cpu:gloo,cuda:nccl`.
        reason: Why this one, for the log.
    """

    backend: Backend
    specification: str
    reason: str


def installed_packages() -> FrozenSet[str]:
    """Those packages of `BACKENDS` that this Python could import; none of them is imported."""
    names = {backend.package for backend in BACKENDS.values() if backend.package}
    return frozenset(name for name in names if importlib.util.find_spec(name) is not None)


def choose_backend(facts: Facts, requested: Optional[str] = None) -> BackendChoice:
    """Take what the script asks for, else what the launcher says, else NCCL where there are GPUs, else gloo.

    Args:
        facts: The machine and the environment.
        requested: A name of `BACKENDS`, a specification such as `cpu:gloo,cuda:nccl`, or None.

    Raises:
        ProcessGroupError: The name is unknown, or this machine lacks what the backend needs.
    """
    told = facts.environment.get(COLLECTIVES_VARIABLE)
    if requested:
        return _checked(facts, requested, "the script asks for it")
    if told:
        return _checked(facts, told, f"{COLLECTIVES_VARIABLE} says so")
    if facts.cuda_devices:
        return _checked(facts, "nccl", f"torch sees {facts.cuda_devices} GPU(s)")
    idle = sorted(facts.packages & {"torch_neuronx", "torch_xla"})
    hint = f"; {' and '.join(idle)} would be used with {COLLECTIVES_VARIABLE}=neuron or =xla" if idle else ""
    return _checked(facts, "gloo", f"torch sees no GPU{hint}")


def _checked(facts: Facts, specification: str, reason: str) -> BackendChoice:
    backends = _parse(specification, reason)
    for backend in backends:
        if backend.device_type == "cuda" and not facts.cuda_devices:
            raise ProcessGroupError(
                f"backend {backend.name} ({reason}) needs a GPU and torch sees none: check the instance type, the "
                "NVIDIA driver and that the image's torch is a CUDA build, or use gloo"
            )
        if backend.package and backend.package not in facts.packages:
            raise ProcessGroupError(
                f"backend {backend.name} ({reason}) needs the package {backend.package}, which is not installed: use "
                "an image that has it, or another backend"
            )
    accelerated = [backend for backend in backends if backend.device_type != "cpu"]
    return BackendChoice((accelerated or backends)[0], specification, reason)


def _parse(specification: str, reason: str) -> List[Backend]:
    """The backends in `nccl` or in `cpu:gloo,cuda:nccl`."""
    names = [pair.rpartition(":")[2] for pair in specification.split(",")]
    unknown = [name for name in names if name not in BACKENDS]
    if unknown:
        raise ProcessGroupError(
            f"no such backend: {', '.join(map(repr, unknown))} ({reason}); there are {', '.join(BACKENDS)}, or "
            "combinations such as cpu:gloo,cuda:nccl"
        )
    return [BACKENDS[name] for name in names]
