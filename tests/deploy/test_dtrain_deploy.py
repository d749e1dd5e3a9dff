"""`dtrain local --deploy` as a person calls it."""

import os
import signal
import socket
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from tests.local.processes import eventually, living

DTRAIN = [sys.executable, "-c", "from cdk_distributed_training.cli import main; main()", "local", "--deploy"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "part").write_text("hello")
    return folder


def test_the_whole_chain_by_one_command(app, data, tmp_path):
    done = subprocess.run(
        [*DTRAIN, "Chain/Shared", "--app", app, "--channel", f"train={data}", "--hyperparameter", "steps=2",
         "--instance-count", "1", "--output", tmp_path / "out"],
        capture_output=True, text=True, timeout=200, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stdout
    steps = ["emulation of AWS on", "bootstrapped", "deployed Chain", "started arn:", "Downloading", "Training",
             "Uploading", "Completed", "execution SUCCEEDED", "destroyed"]  # fmt: skip
    assert [said.index(step) for step in steps] == sorted(said.index(step) for step in steps)
    assert "This is an emulation of AWS on this machine" in said
    assert "only recorded, without behaviour" in said
    (model,) = (tmp_path / "out").glob("shared-local-*/model.tar.gz")
    with tarfile.open(model) as archive:
        assert archive.getnames() == ["digest"]


def test_an_interrupt_leaves_nothing(app, data, tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    process = subprocess.Popen(
        [*DTRAIN, "Chain/Main", "--app", app, "--channel", f"train={data}", "--hyperparameter", "mode=wait",
         "--hyperparameter", "note=interrupted-4711"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(temporary)},
    )  # fmt: skip
    assert process.stdout is not None
    port = 0
    for line in process.stdout:
        if "emulation of AWS on http" in line:
            port = int(line.strip().rpartition(":")[2])
        if "waiting" in line:
            break
    assert living("interrupted-4711")
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 130, out + errors
    assert "stopped; nothing is left running" in errors
    assert eventually(lambda: not living("interrupted-4711"))
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0
    assert not list(temporary.glob("dtrain-aws-*"))
