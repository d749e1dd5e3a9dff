"""Ranks can import `training_launcher.torch`, whichever way the launcher came, and it shadows nothing of theirs."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from launcher_job import SOURCE, zip_folder

from training_launcher.environment import launcher_location, process_variables

SHOW = """
import json, sys
import training_launcher.torch.backends as ours
print(json.dumps({"file": ours.__file__, "path": sys.path}))
"""


@pytest.mark.parametrize(
    ("file", "location"),
    [
        ("/opt/ml/input/data/launcher/ab.zip/training_launcher/environment.py", "/opt/ml/input/data/launcher/ab.zip"),
        ("/opt/training-launcher/training_launcher/environment.py", "/opt/training-launcher"),
        ("/usr/lib/python3/dist-packages/training_launcher/environment.py", ""),
        ("/opt/venv/lib/python3.12/site-packages/training_launcher/environment.py", ""),
    ],
)
def test_location(file: str, location: str) -> None:
    """Never a folder of installed packages: on PYTHONPATH they would come before the standard library."""
    assert launcher_location(file) == location


def test_it_comes_last_and_once() -> None:
    path = process_variables({"PYTHONPATH": "/users/own"}, "/opt/ml/code")["PYTHONPATH"].split(":")
    assert path[:2] == ["/users/own", "/opt/ml/code"]
    assert len(path) == 3
    again = process_variables({"PYTHONPATH": ":".join(path)}, "/opt/ml/code")["PYTHONPATH"].split(":")
    assert again.count(path[2]) == 1


@pytest.mark.parametrize("way", ["zip", "folder"])
def test_a_rank_imports_the_helper(tmp_path: Path, way: str) -> None:
    """The zip channel, and the folder that the image has."""
    place = tmp_path / ("launcher.zip" if way == "zip" else "training-launcher")
    if way == "zip":
        zip_folder(SOURCE, place)
    else:
        shutil.copytree(SOURCE, place, ignore=shutil.ignore_patterns("__pycache__"))
    base = tmp_path / "ml"
    (base / "code").mkdir(parents=True)
    (base / "code/show.py").write_text(SHOW)
    result = subprocess.run(
        # by a relative path, as a person types it
        [sys.executable, place.name, "processes", "--base-dir", str(base), "--", "show.py"],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": "/users/own"},
        timeout=60,
    )
    line = next(line for line in result.stdout.splitlines() if '"file"' in line)
    seen = json.loads(line[line.index("{") :])
    assert seen["file"] == f"{place}/training_launcher/torch/backends.py"
    code = str(base / "code")
    assert seen["path"][:4] == [code, "/users/own", code, str(place)]
