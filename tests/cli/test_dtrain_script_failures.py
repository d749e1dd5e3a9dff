"""What the user's script can do wrong: the reason is said, the exit code is not 0, nothing is left."""

import socket
from pathlib import Path

import pytest
from tests.cli.conftest import Dtrain
from tests.local.handmade_app import write_launcher_app
from tests.local.processes import eventually, living

ONE_HOST = {"ResourceConfig": {"InstanceCount": 1, "InstanceType": "ml.c5.xlarge"}}


@pytest.mark.parametrize(
    ("script", "text", "said"),
    [
        ("missing.py", "", "missing.py"),
        ("train.py", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
        ("train.py", "import sys; print('bye'); sys.exit(17)", "17"),
    ],
    ids=["no such script", "killed", "exit code"],
)
def test_the_reason_is_said(script: str, text: str, said: str, dtrain: Dtrain, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "train.py").write_text(text)
    write_launcher_app(tmp_path / "cdk.out", source, script, **ONE_HOST)
    result = dtrain("local", "--output", "run")
    assert result.returncode == 1
    assert said in result.stdout.partition("Failed after")[2]
    assert said in (tmp_path / "run" / "failure").read_text()
    assert "Traceback" not in result.stderr
    assert eventually(lambda: not living(str(tmp_path)))
    assert not (tmp_path / "run" / "hosts").exists()


def test_a_port_in_use_is_named(dtrain: Dtrain, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "train.py").write_text("print('trained')\n")
    with socket.create_server(("0.0.0.0", 0)) as other:
        port = str(other.getsockname()[1])
        write_launcher_app(tmp_path / "cdk.out", source, "train.py", options=("--control-port", port))
        result = dtrain("local", "--hosts", "loopback", "--output", "run")
    assert result.returncode == 1
    end = result.stdout.partition("Failed after")[2]
    assert port in end
    assert "in use" in end
