"""Count the accelerators of this machine by what the kernel shows; there is no table of instance types."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import NamedTuple

_GPU = re.compile(r"nvidia\d+")
_NEURON = re.compile(r"neuron\d+")
_CORES_PER_NEURON_DEVICE = {"trn1": 2, "inf2": 2, "trn2": 8, "trn3": 8}
_DEFAULT_LOGICAL_CORE = {"trn2": 2, "trn3": 2}


class Devices(NamedTuple):
    """What this host can compute with."""

    gpus: int
    neuron_cores: int
    """Logical Neuron cores: what one process each can open."""
    cpus: int
    efa: bool
    """Whether an Elastic Fabric Adapter's verbs device is there."""

    @property
    def processes(self) -> int:
        """Processes that ``auto`` starts: one for each accelerator, else one."""
        return self.gpus or self.neuron_cores or 1

    @property
    def described(self) -> str:
        """What ``auto`` counted, for messages."""
        if self.gpus:
            return f"{self.gpus} GPU" + "s" * (self.gpus > 1)
        if self.neuron_cores:
            return f"{self.neuron_cores} Neuron core" + "s" * (self.neuron_cores > 1)
        return "no accelerator"


def detect_devices(environment: Mapping[str, str], root: str = "/") -> Devices:
    """Look at ``/dev`` and ``/sys``.

    Args:
        environment: ``NEURON_LOGICAL_NC_CONFIG`` / ``NEURON_RT_VIRTUAL_CORE_SIZE`` (physical cores that make one
            logical core) are read from it, as the Neuron runtime does.
        root: Another place for ``/dev`` and ``/sys``, for tests.
    """
    names = _list(os.path.join(root, "dev"))
    return Devices(
        gpus=sum(1 for name in names if _GPU.fullmatch(name)),
        neuron_cores=_neuron_cores(sum(1 for name in names if _NEURON.fullmatch(name)), environment, root),
        cpus=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        efa=any(name.startswith(("efa", "rdmap")) for name in _list(os.path.join(root, "sys/class/infiniband"))),
    )


def _neuron_cores(devices: int, environment: Mapping[str, str], root: str) -> int:
    """Logical cores of all Neuron devices: the runtime joins physical cores, by two from Trainium2 on."""
    if not devices:
        return 0
    base = os.path.join(root, "sys/class/neuron_device/neuron0")
    family = _read(os.path.join(base, "info/architecture/instance_type")).split(".")[0].lower()
    family = re.sub(r"^(trn\d|inf\d).*", r"\1", family)
    counted = _read(os.path.join(base, "core_count"))
    cores = int(counted) if counted.isdecimal() else _CORES_PER_NEURON_DEVICE.get(family, 2)
    asked = environment.get("NEURON_LOGICAL_NC_CONFIG") or environment.get("NEURON_RT_VIRTUAL_CORE_SIZE") or ""
    joined = int(asked) if asked.isdecimal() and int(asked) else _DEFAULT_LOGICAL_CORE.get(family, 1)
    return devices * cores // joined


def _list(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except OSError:  # not there: no such devices
        return []


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:  # older drivers do not say
        return ""
