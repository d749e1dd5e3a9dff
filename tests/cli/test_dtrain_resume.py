"""A run that is interrupted goes on in the next one."""

import signal
import subprocess
from pathlib import Path

from tests.cli.conftest import DTRAIN, Dtrain
from tests.local.handmade_app import REPOSITORY, write_launcher_app


def test_stop_by_ctrl_c_then_go_on_from_the_checkpoint(dtrain: Dtrain, digits: Path, tmp_path: Path) -> None:
    write_launcher_app(tmp_path / "cdk.out", REPOSITORY / "examples/digits", "train.py", channels=("train",))
    arguments = ["local", "--channel", f"train={digits}", "--hyperparameter", "epochs=300"]
    with subprocess.Popen([*DTRAIN, *arguments, "--output", "first"], cwd=tmp_path, stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        lines = []
        for line in first.stdout:
            lines.append(line.decode())
            if "epoch 2/300" in lines[-1]:
                break
        first.send_signal(signal.SIGINT)
        rest = first.stdout.read().decode()
    assert first.returncode == 130, "".join(lines) + rest
    assert "the checkpoint is saved" in rest
    assert not (tmp_path / "first/model").exists()
    assert not (tmp_path / "first/failure").exists()
    second = dtrain(*arguments[:-1], "epochs=30", "--checkpoints", "first/checkpoints", "--output", "second")
    assert second.returncode == 0, second.stdout + second.stderr
    assert "going on from epoch" in second.stdout
    assert (tmp_path / "second/model/model.pt").exists()
