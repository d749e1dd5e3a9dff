"""`dtrain local --deploy` as a person calls it; `CHAINS=20 pytest ...` runs the whole chain twenty times in a row."""

import os
import re
import signal
import socket
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from tests.local.processes import eventually, living

CHAINS = int(os.environ.get("CHAINS", "1"))
STEPS = [
    "emulation of AWS on",
    "bootstrapped",
    "deployed Chain",
    "started arn:",
    "Downloading",
    "Training",
    "Uploading",
    "Completed",
    "execution SUCCEEDED",
    "destroyed",
]
DTRAIN = [sys.executable, "-c", "from cdk_distributed_training.cli import main; main()", "local", "--deploy"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "part").write_text("hello")
    return folder


@pytest.mark.timeout(120 * CHAINS)
def test_chains_in_a_row_by_one_command_each(app, data, tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    for number in range(CHAINS):
        results = tmp_path / f"out-{number}"
        done = subprocess.run(
            [*DTRAIN, "Chain/Shared", "--app", app, "--channel", f"train={data}", "--hyperparameter", "steps=2",
             "--hyperparameter", "note=chain-4712", "--output", results],
            capture_output=True, text=True, timeout=200, check=False, cwd=tmp_path,
            env={**os.environ, "TMPDIR": str(temporary)},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        said = done.stdout
        positions = [said.index(step) for step in STEPS]
        assert positions == sorted(positions)
        assert "This is an emulation of AWS on this machine" in said
        assert "only recorded, without behaviour" in said
        (model,) = results.glob("shared-local-*/model.tar.gz")
        with tarfile.open(model) as archive:
            assert archive.getnames() == ["digest"]
        assert nothing_is_left(said, "chain-4712", temporary)


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
    said = ""
    for line in process.stdout:
        said += line
        if "waiting" in line:
            break
    assert living("interrupted-4711")
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 130, out + errors
    assert "stopped; nothing is left running" in errors
    assert nothing_is_left(said, "interrupted-4711", temporary)


def nothing_is_left(said: str, marker: str, temporary: Path) -> bool:
    """No process of the job, no host, no port, no temporary file, no network namespace."""
    port = int(re.search(r"emulation of AWS on http://127\.0\.0\.1:(\d+)", said)[1])
    job = re.search(r"(\S+-local-[0-9a-f]{8}) Starting", said)[1]
    assert eventually(lambda: not living(marker))
    assert eventually(lambda: not living(f"dtrain-hosts-{job}"))
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0
    # jsii and Node.js keep caches of their own
    ours = [path.name for path in temporary.iterdir() if path.name.startswith(("dtrain", "training", "tmp"))]
    assert ours == []
    assert not list(Path("/run/netns").glob("*local*")) if Path("/run/netns").exists() else True
    return True
