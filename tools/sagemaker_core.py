"""The JSON files of the wheel sagemaker-core, fetched into a folder, and never installed: it needs a hundred others."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

_INSIDE = "sagemaker/core/image_uri_config"


def wheel(folder: Path) -> Path | None:
    """The newest wheel, asked of the package index that pip is set up with; None if there is none to be had."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    done = subprocess.run([*command, "--only-binary", ":all:", "--dest", folder, "sagemaker-core"], check=False)
    found = sorted(folder.glob("sagemaker_core-*.whl"), key=lambda path: path.stat().st_mtime)
    if done.returncode or not found:
        print("sagemaker-core could not be fetched")
    return found[-1] if found else None


def read(path: Path, name: str) -> Any:
    """One of its tables of images and machines."""
    with zipfile.ZipFile(path) as file:
        return json.loads(file.read(f"{_INSIDE}/{name}.json"))
