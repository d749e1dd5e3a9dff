"""The digits example by itself: it learns, is deterministic, and goes on from a checkpoint bit for bit."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.local.handmade_app import REPOSITORY

EXAMPLE = REPOSITORY / "examples" / "digits"
EPOCHS = ("--epochs", "40")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("digits")
    subprocess.run([sys.executable, EXAMPLE / "prepare.py", folder], check=True, timeout=120)
    return folder


def train(folder: Path, data: Path, *arguments: str) -> "subprocess.Popen[str]":
    variables = {"SM_CHANNEL_TRAIN": str(data), "SM_MODEL_DIR": str(folder / "model")}
    return subprocess.Popen(
        [sys.executable, "-u", EXAMPLE / "train.py", *arguments],
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_stopped_and_started_again_it_gives_the_model_of_an_unbroken_run(data: Path, tmp_path: Path) -> None:
    unbroken = train(tmp_path / "unbroken", data, *EPOCHS)
    output, errors = unbroken.communicate(timeout=120)
    assert unbroken.returncode == 0, errors
    accuracy = re.fullmatch(r"accuracy=(\d\.\d{4})", output.splitlines()[-1])
    assert accuracy is not None
    assert float(accuracy[1]) >= 0.95

    broken = train(tmp_path / "broken", data, *EPOCHS)
    assert broken.stdout is not None
    assert broken.stdout.readline().startswith("epoch 1/40")
    broken.send_signal(signal.SIGTERM)
    output, errors = broken.communicate(timeout=120)
    assert broken.returncode == 0, errors
    assert re.search(r"^stopped at epoch \d+, step \d+; the checkpoint is saved$", output, re.MULTILINE)
    assert not (tmp_path / "broken/model").exists()
    assert [path.name for path in (tmp_path / "broken/checkpoints").iterdir()] == ["checkpoint.pt"]

    again = train(tmp_path / "broken", data, *EPOCHS)
    output, errors = again.communicate(timeout=120)
    assert again.returncode == 0, errors
    assert output.startswith("going on from epoch ")
    assert output.splitlines()[-1] == accuracy[0]
    models = [(tmp_path / run / "model/model.pt").read_bytes() for run in ("unbroken", "broken")]
    assert models[0] == models[1]


def test_a_batch_that_the_ranks_cannot_share_is_refused(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "3")
    process = train(tmp_path, data)
    assert "--batch-size 32 must be a multiple of the 3 ranks" in process.communicate(timeout=120)[1]
    assert process.returncode == 2


def test_the_example_knows_nothing_of_the_library() -> None:
    for file in EXAMPLE.glob("*.py"):
        assert "cdk" not in file.read_text()
        assert "training_launcher" not in file.read_text()
