"""The folder in which a local run leaves what a person wants to see afterwards.

`job.log` (all hosts), `<host>.log`, `model/`, `checkpoints/`, `output/<host>/`, `failure` and `run.json`. While the job
runs, `hosts/` holds the hosts' own files; a run whose driver died leaves it behind, and the next run clears it.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cdk_distributed_training.local import results
from cdk_distributed_training.local.errors import LocalModeError

DEFAULT_PARENT = Path("local-runs")
RUN_FILE = "run.json"


class RunFolder:
    """A run's folder.

    Args:
        path: The folder; it is made, and must be empty if it exists.

    Raises:
        LocalModeError: Something else is in the folder already, or it cannot be made.
    """

    def __init__(self, path: Path) -> None:
        """Make the folder."""
        self.path = path.resolve()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            occupied = next(self.path.iterdir(), None)
        except OSError as error:
            raise LocalModeError(
                f"cannot make the folder {path}: {error.strerror}; choose another one with --output"
            ) from None
        if occupied is not None:
            raise LocalModeError(
                f"the folder {path} is not empty ({occupied.name} is in it): choose another one with --output"
            )
        self.hosts = self.path / "hosts"
        self.model = self.path / results.MODEL
        self.checkpoints = self.path / results.CHECKPOINTS
        self.failure = self.path / "failure"
        self.job_log = self.path / "job.log"

    def host_log(self, host: str) -> Path:
        """The log of one host, byte for byte as it came."""
        return self.path / f"{host}.log"

    def opt_ml(self, host: str) -> Path:
        """The host's /opt/ml while the run lasts."""
        return self.hosts / host / "ml"

    def note(self, facts: Mapping[str, Any]) -> None:
        """Write `run.json`: the facts, and which process drives the run."""
        driver = {"pid": os.getpid(), "started": process_start(os.getpid())}
        text = json.dumps({**facts, "driver": driver}, indent=1, ensure_ascii=False)
        # in one step: another run that starts may read it at any time
        part = self.path / f"{RUN_FILE}.part"
        part.write_text(text + "\n", encoding="utf-8")
        part.replace(self.path / RUN_FILE)

    def collect(self) -> list[Path]:
        """Move what the hosts made out of `hosts/` and remove that folder; returns the model's files."""
        return _collect(self.path)

    def discard_hosts(self) -> None:
        """After a run that could not even begin: remove the hosts' files."""
        shutil.rmtree(self.hosts, ignore_errors=True)


def clear_abandoned(parent: Path) -> Iterator[str]:
    """Tidy the run folders in `parent` whose driver was killed; their processes have ended with it.

    Folders that another run tidies at the same time are left to it.

    Yields:
        What was tidied, or cannot be, in words.
    """
    for file in sorted(parent.glob(f"*/{RUN_FILE}")):
        run = file.parent
        try:
            with _alone(file) as alone:
                if not alone or not (run / "hosts").is_dir() or _driver_lives(file):
                    continue
                _collect(run)
        except PermissionError as error:
            if os.access(file, os.R_OK):  # else it is somebody else's, of whom nothing is known
                yield f"{run}, left by a run that was killed, cannot be tidied: {error.strerror}"
        except OSError as error:
            yield f"{run}, left by a run that was killed, cannot be tidied: {error.strerror}"
        else:
            yield f"tidied {run}, left by a run that was killed"


@contextmanager
def _alone(file: Path) -> Iterator[bool]:
    """Whether nobody else has the file in hand."""
    with file.open("rb") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


def process_start(pid: int) -> str:
    """When a process started, in a form to compare: together with its id it names a process for good."""
    if sys.platform == "linux":
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
        except FileNotFoundError:
            return ""
    return subprocess.run(
        ["ps", "-o", "lstart=", "-p", str(pid)], check=False, capture_output=True, text=True
    ).stdout.strip()


def _driver_lives(file: Path) -> bool:
    try:
        driver = json.loads(file.read_text(encoding="utf-8"))["driver"]
        return bool(driver["started"]) and process_start(driver["pid"]) == driver["started"]
    except (ValueError, KeyError, TypeError, FileNotFoundError):
        return False


def _collect(run: Path) -> list[Path]:
    hosts = sorted(path for path in (run / "hosts").iterdir() if path.is_dir())
    model = results.merge([host / "ml" / results.MODEL for host in hosts], run / results.MODEL, move=True)
    results.merge([host / "ml" / results.CHECKPOINTS for host in hosts], run / results.CHECKPOINTS, move=True)
    for host in hosts:
        output = host / "ml" / "output"
        results.merge([output], run / "output" / host.name, move=True)
    shutil.rmtree(run / "hosts")
    return model
