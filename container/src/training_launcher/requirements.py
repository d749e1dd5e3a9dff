"""Install ``requirements.txt`` of the source code, where there is one."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

FILE = "requirements.txt"


def pip_command(python: str, directory: str) -> tuple[str, ...] | None:
    """The pip command; None when there is nothing to install."""
    path = os.path.join(directory, FILE)
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        lines = [line.strip() for line in file]
    if not any(line and not line.startswith(b"#") for line in lines):
        return None
    return (python, "-u", "-m", "pip", "install", "--no-input", "--progress-bar", "off", "-r", FILE)


def pip_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Variables for pip in a container whose only purpose is this job; what the user set wins."""
    wanted = {
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_ROOT_USER_ACTION": "ignore",
        # Debian and Ubuntu mark their Python as not to be touched (PEP 668); a training container is to be touched
        "PIP_BREAK_SYSTEM_PACKAGES": "1",
    }
    return {name: value for name, value in wanted.items() if name not in environment}


def pip_error(output: str) -> str:
    """The line of pip's output that says why."""
    errors = re.findall(r"^\s*(?:ERROR|error): *(.+)$", output, re.MULTILINE)
    if errors:
        return str(errors[-1]).strip()
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else "pip said nothing"
