"""Where a run leaves its results."""

import fcntl
import json
import os
import subprocess
from pathlib import Path

import pytest

from cdk_distributed_training.local.errors import LocalModeError
from cdk_distributed_training.local.run_folder import RunFolder, clear_abandoned, process_start


def fill(run: RunFolder) -> None:
    for host, text in (("algo-1", "one"), ("algo-2", "two")):
        for file in ("model/model.pt", f"checkpoints/{host}.pt", "output/data/metrics", "input/data/train/big"):
            path = run.opt_ml(host) / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    old = run.opt_ml("algo-1") / "model/model.pt"
    os.utime(old, (1, 1))


def test_results_are_collected_and_the_hosts_removed(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run")
    fill(run)
    assert run.collect() == [Path("model.pt")]
    assert (run.model / "model.pt").read_text() == "two"  # the later one
    assert sorted(path.name for path in run.checkpoints.iterdir()) == ["algo-1.pt", "algo-2.pt"]
    assert (run.path / "output/algo-1/data/metrics").read_text() == "one"
    assert not run.hosts.exists()


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x")
    with pytest.raises(LocalModeError, match=r"is not empty \(mine is in it\): choose another one"):
        RunFolder(tmp_path)
    with pytest.raises(LocalModeError, match="cannot make the folder"):
        RunFolder(tmp_path / "mine" / "run")


def test_a_run_whose_driver_was_killed_is_tidied(tmp_path: Path) -> None:
    dead = subprocess.Popen(["sleep", "60"])
    gone = {"pid": dead.pid, "started": process_start(dead.pid)}
    dead.kill()
    dead.wait()
    runs = {}
    for name, driver in {"dead": gone, "alive": None, "reused": {"pid": os.getpid(), "started": "1"}}.items():
        runs[name] = RunFolder(tmp_path / name)
        fill(runs[name])
        runs[name].note({})
        if driver:
            (tmp_path / name / "run.json").write_text(json.dumps({"driver": driver}))
    (tmp_path / "something else").mkdir()
    (tmp_path / "damaged" / "hosts").mkdir(parents=True)
    (tmp_path / "damaged" / "run.json").write_text('{"driver": [')
    other = (tmp_path / "reused" / "run.json").open("rb")
    fcntl.flock(other, fcntl.LOCK_EX)  # as by another run that tidies
    left = "left by a run that was killed"
    assert list(clear_abandoned(tmp_path)) == [f"tidied {tmp_path / name}, {left}" for name in ("damaged", "dead")]
    other.close()
    assert list(clear_abandoned(tmp_path)) == [f"tidied {tmp_path / 'reused'}, {left}"]
    assert (runs["dead"].model / "model.pt").exists()
    assert not runs["dead"].hosts.exists()
    assert runs["alive"].hosts.exists()
    assert list(clear_abandoned(tmp_path)) == []
    assert list(clear_abandoned(tmp_path / "none")) == []
