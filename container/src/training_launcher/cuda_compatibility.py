"""CUDA's forward compatibility: an image newer than the machine's driver brings a driver library of its own.

AWS's images look for it in their entry point, which a training job with an entry point of its own never runs.
https://docs.nvidia.com/deploy/cuda-compatibility/
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

FOLDER = "/usr/local/cuda/compat"


def compatibility_variables(environment: Mapping[str, str], root: str = "/") -> dict[str, str]:
    """``LD_LIBRARY_PATH`` with the image's driver library first, where the machine's driver is older than that.

    Args:
        environment: As the container was started.
        root: Where the machine's files are, for tests.
    """
    ours = _library_version(os.path.join(root, FOLDER[1:], "libcuda.so.1"))
    drivers = _driver_version(os.path.join(root, "proc/driver/nvidia/version"))
    folders = [folder for folder in environment.get("LD_LIBRARY_PATH", "").split(os.pathsep) if folder]
    # a library older than the driver would not load
    if not ours or not drivers or drivers >= ours or FOLDER in folders:
        return {}
    return {"LD_LIBRARY_PATH": os.pathsep.join([FOLDER, *folders])}


def library_path(environment: Mapping[str, str]) -> dict[str, str]:
    """The ``LD_LIBRARY_PATH`` to hand on, where the compatibility library is on it."""
    path = environment.get("LD_LIBRARY_PATH", "")
    return {"LD_LIBRARY_PATH": path} if FOLDER in path.split(os.pathsep) else {}


def _library_version(link: str) -> tuple[int, ...]:
    version = _numbers(os.path.basename(os.path.realpath(link)).partition("libcuda.so.")[2])
    return version if len(version) > 1 else ()  # a link that leads nowhere has the name's own 1


def _driver_version(path: str) -> tuple[int, ...]:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            found = re.search(r"^NVRM version:.*?\s(\d+(?:\.\d+)+)\s", file.read(), re.MULTILINE)
    except OSError:
        return ()
    return _numbers(found[1]) if found else ()


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdecimal())
