"""The command line as a person calls it, and the project's own app, synthesized."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.local.handmade_app import REPOSITORY

DTRAIN = [sys.executable, "-c", "from cdk_distributed_training.cli import main; main()"]
Dtrain = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def dtrain(tmp_path: Path) -> Dtrain:
    """Call `dtrain ARGUMENTS...` in an empty folder; `before` is put in front of the command line."""

    def call(*arguments: str, before: tuple[str, ...] = ()) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [*before, *DTRAIN, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=240
        )

    return call


@pytest.fixture(scope="session")
def synthesized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The assembly of the project's app, as `cdk synth` writes it."""
    folder = tmp_path_factory.mktemp("app") / "cdk.out"
    context = json.loads((REPOSITORY / "cdk.json").read_text())["context"]
    subprocess.run(
        [sys.executable, "stacks/app.py"],
        cwd=REPOSITORY,
        env={**os.environ, "CDK_OUTDIR": str(folder), "CDK_CONTEXT_JSON": json.dumps(context)},
        check=True,
        timeout=240,
    )
    return folder


@pytest.fixture(scope="session")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example's data, as its own script writes it."""
    folder = tmp_path_factory.mktemp("digits")
    subprocess.run([sys.executable, REPOSITORY / "examples/digits/prepare.py", folder], check=True, timeout=120)
    return folder
