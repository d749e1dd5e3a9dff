"""The launcher where it is not the first process, and nothing ends the others for it; and in its first milliseconds."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from launcher_job import SOURCE, zip_folder

BLOCKER = """
import os, sys, time
open(os.path.join(os.environ["HERE"], "importing"), "w").close()
time.sleep(1)
name = __name__
path, sys.path[:] = sys.path[:], [entry for entry in sys.path if not entry.endswith("slow")]
del sys.modules[name]
sys.modules[name] = __import__(name)
sys.path[:] = path
"""


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


class OneHost:
    """A launcher as an ordinary process of this machine, with a base folder of its own."""

    def __init__(self, base: Path) -> None:
        self.base = base
        for folder in ("input/config", "input/data/code", "code", "output", "checkpoints", "tmp"):
            (base / folder).mkdir(parents=True)
        (base / "input/config/resourceconfig.json").write_text(
            json.dumps({"current_host": "algo-1", "hosts": ["algo-1"], "network_interface_name": "lo"})
        )
        zip_folder(SOURCE, base / "launcher.zip")
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-u", str(self.base / "launcher.zip"), *arguments],
            env={
                "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
                "SAGEMAKER_BASE_DIR": str(self.base),
                "TMPDIR": str(self.base / "tmp"),
                "HERE": str(self.base),
                **environment,
            },
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.processes.append(process)
        return process

    def pids(self, count: int) -> list[int]:
        """What the ranks have written, as soon as all have."""
        until(lambda: len([path for path in self.base.glob("pid-*") if path.read_text()]) >= count)
        return [int(path.read_text()) for path in self.base.glob("pid-*")]


@pytest.fixture
def host(tmp_path: Path) -> Iterator[OneHost]:
    made = OneHost(tmp_path)
    yield made
    for process in made.processes:
        process.kill()
        process.wait()


def gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state in ("Z", "X")


WRITE_PID = """
import os, time
open(os.path.join(os.environ["HERE"], f"pid-{os.environ['RANK']}"), "w").write(str(os.getpid()))
time.sleep(100)
"""


@pytest.mark.timeout(120)
@pytest.mark.parametrize("kind", ["processes", "torchrun", "mpirun"])
def test_a_killed_launcher_takes_its_ranks_along(host: OneHost, kind: str) -> None:
    """SIGKILL asks nobody, and GPUs that are held by orphans stay lost."""
    (host.base / "code/train.py").write_text(WRITE_PID)
    launcher = host.start(kind, "--nproc-per-node", "2", "--", "train.py")
    pids = host.pids(2)
    assert not any(gone(pid) for pid in pids)
    launcher.kill()
    launcher.wait()
    until(lambda: all(gone(pid) for pid in pids))


def test_a_stop_in_the_first_milliseconds_is_no_loss(host: OneHost) -> None:
    """While the launcher's own imports still run: here one of them takes a second."""
    (host.base / "code/train.py").write_text(WRITE_PID)
    slow = host.base / "slow"
    slow.mkdir()
    (slow / "argparse.py").write_text(BLOCKER)
    launcher = host.start("processes", "--", "train.py", PYTHONPATH=str(slow))
    until((host.base / "importing").exists)
    launcher.send_signal(signal.SIGTERM)
    assert launcher.wait(60) == 143
    assert not list(host.base.glob("pid-*")), "no rank has been started"
    assert not (host.base / "output/failure").exists()
    assert not list((host.base / "tmp").iterdir())
