"""What the choice of collectives depends on, as a plain value."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import FrozenSet, NamedTuple, Optional

from training_launcher.collectives.fabric import Fabric, read_fabric
from training_launcher.collectives.libraries import Library, find_libfabric, find_plugin
from training_launcher.devices import Devices

_PACKAGES = ("torch_neuronx", "torch_xla")


class Facts(NamedTuple):
    """A machine and its job."""

    hosts: int
    """Hosts that run ranks."""
    instance_type: str
    """As SageMaker says it; empty when unknown."""
    gpus: int
    """GPUs that a process may see."""
    neuron_cores: int
    neuron_family: str
    """``trn1``, ``trn2``, …; empty when there is none or the driver does not say."""
    fabric: Fabric
    libfabric: Optional[Library]
    plugin: Optional[Library]
    """aws-ofi-nccl."""
    packages: FrozenSet[str]
    """Of the Python packages that bring a backend, those that are installed; ``smddp`` with its shared library."""
    environment: Mapping[str, str]
    """As the container was started: what stands in it wins."""

    @property
    def several_hosts(self) -> bool:
        """Whether anything crosses the network."""
        return self.hosts > 1

    @property
    def missing_for_efa(self) -> tuple[str, ...]:
        """What NCCL lacks to go over EFA, and what would bring it."""
        missing = []
        if not self.fabric.efa:
            missing.append(
                "an EFA device (/sys/class/infiniband has none: the instance type must support EFA, and the security "
                "group of the job must allow all traffic from and to itself)"
            )
        elif not self.fabric.openable:
            missing.append("the device files /dev/infiniband/uverbs* (the container was started without them)")
        if not self.libfabric:
            missing.append("libfabric (libfabric.so.1 in /opt/amazon/efa or on LD_LIBRARY_PATH: the image lacks it)")
        if not self.plugin:
            missing.append(
                "the plug-in aws-ofi-nccl (libnccl-net.so in /opt/amazon/ofi-nccl or on LD_LIBRARY_PATH: the image "
                "lacks it)"
            )
        return tuple(missing)


def detect_facts(
    environment: Mapping[str, str],
    devices: Devices,
    *,
    hosts: int,
    instance_type: str,
    root: str = "/",
    search_path: Sequence[str] | None = None,
) -> Facts:
    """Look at the machine; nothing is imported or loaded.

    Args:
        environment: As the container was started.
        devices: What was counted.
        hosts: Hosts that run ranks.
        instance_type: As SageMaker says it.
        root: Another place for ``/dev``, ``/sys``, ``/opt`` and so on, for tests.
        search_path: Where Python looks for packages; `sys.path` by default.
    """
    folders = sys.path if search_path is None else search_path
    hidden = environment.get("CUDA_VISIBLE_DEVICES", "0") in ("", "-1")
    return Facts(
        hosts=hosts,
        instance_type=instance_type,
        gpus=0 if hidden else devices.gpus,
        neuron_cores=devices.neuron_cores,
        neuron_family=_neuron_family(root),
        fabric=read_fabric(root),
        libfabric=find_libfabric(environment, root),
        plugin=find_plugin(environment, root),
        packages=frozenset(
            [name for name in _PACKAGES if any(_is_package(folder, name) for folder in folders)]
            + ["smddp"] * any(_has_smddp(folder) for folder in folders)
        ),
        environment=environment,
    )


def _is_package(folder: str, name: str) -> bool:
    return os.path.isfile(os.path.join(folder, name, "__init__.py"))


def _has_smddp(folder: str) -> bool:
    """The package with its library: the Python files alone are in images where it cannot run."""
    base = os.path.join(folder, "smdistributed/dataparallel")
    return os.path.isdir(base) and any(
        ".so" in os.path.splitext(file)[1] or ".so." in file for _, _, files in os.walk(base) for file in files
    )


def _neuron_family(root: str) -> str:
    path = os.path.join(root, "sys/class/neuron_device/neuron0/info/architecture/instance_type")
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip().lower()[:4]
    except OSError:  # no Neuron device, or a driver that does not say
        return ""
