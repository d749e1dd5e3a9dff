"""Ctrl-C, a termination and a killed driver leave nothing behind."""

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import DTRAIN, Dtrain
from tests.local.handmade_app import request, write_app, write_launcher_app
from tests.local.processes import eventually, living

SCRIPT = """trap 'echo saved > "$base/checkpoints/$$"; exit 0' TERM
base=${SAGEMAKER_BASE_DIR:-/opt/ml}
(setsid sleep 4730.5 >/dev/null 2>&1 &)
touch "${TMPDIR:-/tmp}/scratch"
echo ready
while :; do sleep 0.1; done
"""


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A folder for temporary files with a short path, as TMPDIR has on most machines."""
    with tempfile.TemporaryDirectory(prefix="t", dir="/tmp") as folder:
        yield Path(folder)


def start(
    folder: Path, hosts: str, temporary: Path, *, script: str = SCRIPT, stderr: int | None = None
) -> "subprocess.Popen[bytes]":
    write_app(folder / "cdk.out", {"Training/Job": request(["sh", "-c", script])})
    process = subprocess.Popen(
        [*DTRAIN, "local", "--hosts", hosts, "--output", "runs/first"],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=stderr,
    )
    logs = [folder / f"runs/first/algo-{number}.log" for number in (1, 2)]
    assert eventually(lambda: all(log.exists() and b"ready" in log.read_bytes() for log in logs))
    return process


@pytest.mark.parametrize("hosts", ["namespaces", "loopback"])
@pytest.mark.parametrize(("signum", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_the_job(signum: signal.Signals, code: int, hosts: str, tmp_path: Path, temporary: Path) -> None:
    process = start(tmp_path, hosts, temporary)
    process.send_signal(signum)
    output = process.communicate(timeout=60)[0].decode()
    assert process.returncode == code
    assert "Stopping" in output
    assert "Stopped after" in output
    run = tmp_path / "runs/first"
    assert list((run / "checkpoints").iterdir())
    assert not (run / "hosts").exists()
    assert not (run / "failure").exists()
    assert eventually(lambda: not living("sleep 4730.5") and not living(str(tmp_path)))
    assert not list(temporary.iterdir())


@pytest.mark.parametrize("hosts", ["namespaces", "loopback"])
def test_a_killed_driver_leaves_no_process_and_the_next_run_tidies_up(
    hosts: str, dtrain: Dtrain, tmp_path: Path, temporary: Path
) -> None:
    process = start(tmp_path, hosts, temporary)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    assert eventually(lambda: not living("sleep 4730.5") and not living(str(tmp_path)))
    assert not list(temporary.iterdir())
    assert (tmp_path / "runs/first/hosts").exists()
    write_app(tmp_path / "cdk.out", {"Training/Job": request(["true"])})
    result = dtrain("local", "--output", "runs/second")
    assert result.returncode == 0
    assert "tidied runs/first" in result.stderr
    assert not (tmp_path / "runs/first/hosts").exists()


def test_no_temporary_file_is_left(dtrain: Dtrain, tmp_path: Path, temporary: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "train.py").write_text("print('trained')")
    one_host = {"InstanceCount": 1, "InstanceType": "ml.c5.xlarge"}
    write_launcher_app(tmp_path / "cdk.out", source, "train.py", ResourceConfig=one_host)
    before = ("env", f"TMPDIR={temporary}")
    described = dtrain("describe", before=before)
    assert "--nproc-per-node 1" in described.stdout
    assert not list(temporary.iterdir())
    for hosts in ("namespaces", "loopback"):
        result = dtrain("local", "--hosts", hosts, before=before)
        assert result.returncode == 0, result.stdout
        assert not list(temporary.iterdir())


def test_a_reader_that_goes_away_stops_the_job(tmp_path: Path, temporary: Path) -> None:
    talking = SCRIPT.replace("do sleep 0.1", "do echo step; sleep 0.1")
    process = start(tmp_path, "loopback", temporary, script=talking, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()  # as `dtrain local | head` does
    assert process.stderr is not None
    errors = process.stderr.read().decode()
    assert process.wait(timeout=60) == 141
    assert "stopping the job" in errors
    assert "Traceback" not in errors
    assert list((tmp_path / "runs/first/checkpoints").iterdir())
    assert eventually(lambda: not living("sleep 4730.5") and not living(str(tmp_path)))


def test_a_full_disk_ends_the_logs_and_not_the_job(dtrain: Dtrain, tmp_path: Path) -> None:
    write_app(
        tmp_path / "cdk.out", {"Training/Job": request(["sh", "-c", "head -c 3000000 /dev/zero; echo; echo last"])}
    )
    (tmp_path / "small").mkdir()
    command = 'mount -t tmpfs -o size=2m tmpfs small && exec "$0" "$@"'
    result = dtrain("local", "--output", "small/run", before=("unshare", "-m", "sh", "-c", command))
    assert result.returncode == 0, result.stderr
    assert "Traceback" not in result.stderr
    assert "the logs end here (No space left on device)" in result.stdout
    assert "last" in result.stdout
