"""The digits example, killed in the middle and started again, comes to the very model of an unbroken run.

Three times here; fifty times with FAULT_TABLE=whole, as `make faults` runs it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from launcher_job import LauncherJob, Outcome

from cdk_distributed_training.local.hosts import NamespaceHosts

WHOLE = os.environ.get("FAULT_TABLE") == "whole"
RUNS = 50 if WHOLE else 3
REPORT = Path(__file__).resolve().parents[3] / "docs/faults.md"
EPOCHS = 8
DIGITS = Path(__file__).resolve().parents[3] / "examples/digits"
COMMAND = ("processes", "--nproc-per-node", "2", "--", "train.py")


class Digits:
    """The example as a job on one host with two ranks."""

    def __init__(self, job: LauncherJob, data: Path) -> None:
        self.job = job
        self.equal = 0
        job.source(train__py=(DIGITS / "train.py").read_text())
        job.write_config("hyperparameters.json", {"epochs": str(EPOCHS)})
        shutil.copytree(data, job.opt_ml("algo-1") / "input/data/train")

    @property
    def model(self) -> Path:
        return self.job.opt_ml("algo-1") / "model/model.pt"

    def forget(self) -> None:
        """As a new job's disk."""
        shutil.rmtree(self.job.opt_ml("algo-1") / "checkpoints", ignore_errors=True)
        self.model.unlink(missing_ok=True)

    def finish(self) -> str:
        """Run to the end; the model's hash."""
        outcome = self.job.run(*COMMAND)["algo-1"]
        assert outcome.code == 0, outcome.text
        self.outcome = outcome
        return hashlib.sha256(self.model.read_bytes()).hexdigest()

    def break_off(self, number: int) -> Outcome:
        """Start, and end it in another epoch each time: a stop with notice and a kill without, by turns."""
        self.job.start(*COMMAND)
        self.job.until_said(f"epoch {1 + number % (EPOCHS - 2)}/{EPOCHS}", seconds=200)
        time.sleep(0.03 * (number % 7))  # another step each time
        if number % 2:
            self.job.hosts.kill("algo-1")
        else:
            self.job.hosts.signal("algo-1", signal.SIGTERM)
        return self.job.wait(200)["algo-1"]


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Digits]:
    folder = tmp_path_factory.mktemp("resume")
    subprocess.run([sys.executable, DIGITS / "prepare.py", folder / "data"], check=True, capture_output=True)
    with NamespaceHosts(["algo-1"], folder / "hosts", "resume") as hosts:
        made = Digits(LauncherJob(hosts, folder), folder / "data")
        yield made
    if WHOLE:
        with REPORT.open("a") as page:  # which the fault table has just written
            page.write(
                f"\n## Kill and resume\n\n{made.equal} of {RUNS} runs of examples/digits (one host, two ranks), "
                "broken off\nby SIGTERM and by SIGKILL in turn, each at another step, and started again, ended with\n"
                "the model of an unbroken run, bit for bit.\n"
            )


@pytest.fixture(scope="module")
def unbroken(digits: Digits) -> str:
    """The hash of the model that an undisturbed run makes."""
    return digits.finish()


@pytest.mark.timeout(500)
@pytest.mark.parametrize("number", range(RUNS))
def test_a_broken_run_ends_as_an_unbroken_one(digits: Digits, unbroken: str, number: int) -> None:
    """Bit for bit."""
    digits.forget()
    outcome = digits.break_off(number)
    assert outcome.code == (137 if number % 2 else 0), outcome.text
    assert outcome.failure is None
    assert not digits.model.exists(), "broken off before its end"
    assert digits.finish() == unbroken
    found = re.search(r"going on from epoch (\d+), step (\d+)", digits.outcome.text)
    assert found, digits.outcome.text
    assert (int(found[1]), int(found[2])) > (0, 0), "it did not begin anew"
    digits.equal += 1
