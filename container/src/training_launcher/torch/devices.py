"""Binding a process to the one device that is its own."""

from __future__ import annotations

import importlib
from typing import Callable, Dict, Mapping

import torch

from training_launcher.torch.cuda_index import cuda_index


def bind_device(device_type: str, environment: Mapping[str, str]) -> torch.device:
    """Make this rank's device the current one, where the device type has such a thing, and return it.

    Args:
        device_type: `cpu`, `cuda`, `xla` or `neuron`.
        environment: The process's environment variables.

    Raises:
        ProcessGroupError: The host has fewer GPUs than ranks.
    """
    return _BINDERS[device_type](environment)


def _cpu(environment: Mapping[str, str]) -> torch.device:
    return torch.device("cpu")


def _cuda(environment: Mapping[str, str]) -> torch.device:
    device = torch.device("cuda", cuda_index(environment, torch.cuda.device_count()))
    torch.cuda.set_device(device)
    return device


def _xla(environment: Mapping[str, str]) -> torch.device:
    device: torch.device = importlib.import_module("torch_xla").device()
    return device


def _neuron(environment: Mapping[str, str]) -> torch.device:
    # torch_neuronx gives each process its own core (NEURON_RT_VISIBLE_CORES from LOCAL_RANK), so there is one to take
    return torch.device("neuron")


_BINDERS: Dict[str, Callable[[Mapping[str, str]], torch.device]] = {
    "cpu": _cpu,
    "cuda": _cuda,
    "neuron": _neuron,
    "xla": _xla,
}
