"""The network devices that can write into another host's memory, from ``/sys/class/infiniband``."""

from __future__ import annotations

import os
import re
from typing import List, NamedTuple, Tuple

_AMAZON = "0x1d0f"


class FabricDevice(NamedTuple):
    """One verbs device."""

    name: str
    efa: bool
    """Whether it is an Elastic Fabric Adapter, and not InfiniBand or RoCE of somebody else."""
    gigabits: float
    """Sum of what its ports say that they carry, in Gbit/s; 0 when they do not say."""


class Fabric(NamedTuple):
    """All verbs devices of this host."""

    devices: Tuple[FabricDevice, ...]
    openable: bool
    """Whether the container has the device files through which programs use them."""

    @property
    def efa(self) -> Tuple[FabricDevice, ...]:
        """The Elastic Fabric Adapters."""
        return tuple(device for device in self.devices if device.efa)

    @property
    def gigabits(self) -> float:
        """What the Elastic Fabric Adapters carry together, in Gbit/s; 0 when they do not say."""
        return sum(device.gigabits for device in self.efa)


def read_fabric(root: str) -> Fabric:
    """Look for the devices.

    Args:
        root: ``/``, or another place for ``/dev`` and ``/sys`` in tests.
    """
    base = os.path.join(root, "sys/class/infiniband")
    return Fabric(
        devices=tuple(_device(base, name) for name in sorted(_list(base))),
        openable=any(name.startswith("uverbs") for name in _list(os.path.join(root, "dev/infiniband"))),
    )


def _device(base: str, name: str) -> FabricDevice:
    vendor = _read(os.path.join(base, name, "device/vendor"))
    ports = os.path.join(base, name, "ports")
    return FabricDevice(
        name=name,
        # by name where the vendor is not shown: the kernel's own names, before and after udev has changed them
        efa=vendor == _AMAZON if vendor else name.startswith(("efa", "rdmap")),
        gigabits=sum(_gigabits(_read(os.path.join(ports, port, "rate"))) for port in _list(ports)),
    )


def _gigabits(rate: str) -> float:
    """The number in ``100 Gb/sec (4X EDR)``."""
    found = re.match(r"([\d.]+) Gb/sec", rate)
    return float(found.group(1)) if found else 0.0


def _list(directory: str) -> List[str]:
    try:
        return os.listdir(directory)
    except OSError:  # not there: no such devices
        return []


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:  # an older driver, or a fabric without ports that are up
        return ""
