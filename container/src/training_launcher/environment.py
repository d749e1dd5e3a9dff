"""Variables that the launcher adds to the environment of the user's processes. What the user set always wins."""

from __future__ import annotations

import os
from collections.abc import Mapping

_EXTENDED = ("PYTHONPATH", "LD_LIBRARY_PATH")


def process_variables(environment: Mapping[str, str], source_directory: str) -> dict[str, str]:
    """For Python in a container: output at once, a stack when it crashes, the source folder importable.

    The launcher itself comes last, for scripts that import `training_launcher.torch`: it shadows nothing.
    """
    path = [part for part in environment.get("PYTHONPATH", "").split(os.pathsep) if part]
    own = launcher_location(__file__)
    return {
        "PYTHONUNBUFFERED": "1",
        "PYTHONFAULTHANDLER": "1",
        "PYTHONPATH": os.pathsep.join([*path, source_directory, *([own] if own and own not in path else [])]),
    }


def launcher_location(file: str) -> str:
    """The zip or folder from which `training_launcher` can be imported.

    Args:
        file: Path of this module. Installed among other packages it would give their folder, which must not go onto
            PYTHONPATH, before the standard library: then the answer is empty, as every Python there finds it anyway.
    """
    location = os.path.dirname(os.path.dirname(os.path.abspath(file)))
    return "" if os.path.basename(location) in ("site-packages", "dist-packages") else location


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

    ``PYTHONPATH`` and ``LD_LIBRARY_PATH`` are extended instead, behind the user's own folders.
    """
    merged = {name: value for mapping in wanted for name, value in mapping.items()}
    return {name: value for name, value in merged.items() if name not in environment or name in _EXTENDED}
