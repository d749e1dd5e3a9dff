"""A stop reaches the process that trains, on every host and below whatever started it, and soon."""

from __future__ import annotations

import re
import signal
import time

import pytest
from launcher_job import LauncherJob

TRAIN = """
import os, signal, sys, time
def save(*_):
    print(f"told at {time.monotonic()}", flush=True)
    time.sleep(0.5)
    print("saved", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
print("training", flush=True)
time.sleep(100)
"""
# two shells deep, neither of which passes a signal on; the second line keeps them from becoming the program
SHELL = "echo in the shell\nsh -c 'python3 -u train.py; exit $?'\ncode=$?\necho after it\nexit $code\n"


@pytest.mark.timeout(200)
@pytest.mark.parametrize("kind", ["processes", "mpirun", "torchrun"])
@pytest.mark.parametrize("told", ["algo-1", "algo-2"])
def test_the_deepest_process_is_told_within_a_second(job: LauncherJob, kind: str, told: str) -> None:
    """SageMaker gives 120 s in all, and most of them are the script's. The machine's clock is that of all hosts."""
    job.source(train__py=TRAIN, start__sh=SHELL)
    job.start(kind, "--nproc-per-node", "2", "--", "start.sh")
    job.until(lambda: all(job.output(name).count("] training") == 2 for name in job.names), 150)
    began = time.monotonic()
    job.hosts.signal(told, signal.SIGTERM)
    outcomes = job.wait()
    assert [outcome.code for outcome in outcomes.values()] == [0, 0], outcomes
    for outcome in outcomes.values():
        times = [float(found) for found in re.findall(r"told at ([\d.]+)", outcome.text)]
        assert len(times) == 2
        assert max(times) - began < 1.0
        assert outcome.text.count("] saved") == 2
        assert outcome.text.count("] after it") == 2
        assert outcome.failure is None
