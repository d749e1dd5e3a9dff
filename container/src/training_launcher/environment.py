"""Variables that the launcher adds to the environment of the user's processes. What the user set always wins."""

from __future__ import annotations

import os
from collections.abc import Mapping


def process_variables(environment: Mapping[str, str], source_directory: str) -> dict[str, str]:
    """For Python in a container: output at once, a stack when it crashes, the source folder importable."""
    path = [part for part in environment.get("PYTHONPATH", "").split(os.pathsep) if part]
    return {
        "PYTHONUNBUFFERED": "1",
        "PYTHONFAULTHANDLER": "1",
        "PYTHONPATH": os.pathsep.join([*path, source_directory]),
    }


def network_variables(interface: str, hosts: int) -> dict[str, str]:
    """The network interface for collectives, where there is more than one host.

    NCCL takes a prefix unless it begins with ``=``; gloo takes names as they are.
    https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-socket-ifname
    """
    if not interface or hosts < 2:
        return {}
    return {"NCCL_SOCKET_IFNAME": f"={interface}", "GLOO_SOCKET_IFNAME": interface}


def additions(environment: Mapping[str, str], *wanted: Mapping[str, str]) -> dict[str, str]:
    """The wanted variables that the user has not set; later mappings win over earlier ones.

    ``PYTHONPATH`` is the one that is extended instead, behind the user's own folders.
    """
    merged = {name: value for mapping in wanted for name, value in mapping.items()}
    return {name: value for name, value in merged.items() if name not in environment or name == "PYTHONPATH"}
