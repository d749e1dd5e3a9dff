"""Any command, on every host or on the first."""

import json
import signal
from collections.abc import Callable

import pytest
from launcher_job import LauncherJob

SHOW = """
import json, os, sys
names = ("SM_CURRENT_HOST", "SM_CURRENT_HOST_RANK", "SM_HOSTS", "RANK", "WORLD_SIZE")
print(json.dumps({"argv": sys.argv[1:], **{name: os.environ.get(name) for name in names}}))
"""


def test_every_host_runs_the_command(job: LauncherJob) -> None:
    job.source(tool__py=SHOW)
    job.write_config("hyperparameters.json", {"lr": "0.1"})
    outcomes = job.run("plain", "--", "tool.py", "one two")
    for number, host in enumerate(job.names):
        assert outcomes[host].code == 0
        (line,) = outcomes[host].lines_of(f"rank {number}")
        assert json.loads(line) == {
            "argv": ["one two", "--lr", "0.1"],
            "SM_CURRENT_HOST": host,
            "SM_CURRENT_HOST_RANK": str(number),
            "SM_HOSTS": '["algo-1","algo-2"]',
            "RANK": None,
            "WORLD_SIZE": None,
        }


def test_a_program_from_the_path(job: LauncherJob) -> None:
    job.source(notes__txt="")
    outcomes = job.run("plain", "--", "uname", "-n")
    assert [outcomes[host].lines_of(r"rank \d") for host in job.names] == [["algo-1"], ["algo-2"]]


def test_the_leader_alone(make_job: Callable[[int], LauncherJob]) -> None:
    """The others wait, end with it, and reach no end of their own."""
    job = make_job(3)
    job.source(tool__py="import time; time.sleep(0.5); print('done')")
    outcomes = job.run("plain", "--on", "leader", "--", "tool.py")
    assert {outcome.code for outcome in outcomes.values()} == {0}
    assert outcomes["algo-1"].lines_of("rank 0") == ["done"]
    for host in ("algo-2", "algo-3"):
        assert outcomes[host].lines_of(r"rank \d") == []
        assert "which waits for algo-1" in outcomes[host].text


def test_all_end_with_the_leaders_failure(job: LauncherJob) -> None:
    job.source(tool__py="raise ValueError('no such table')")
    outcomes = job.run("plain", "--on", "leader", "--", "tool.py")
    assert [outcome.code for outcome in outcomes.values()] == [1, 1]
    first = "exception | host algo-1 rank 0 (local rank 0) | exit code 1 | ValueError: no such table"
    assert {str(outcome.failure).splitlines()[0] for outcome in outcomes.values()} == {first}


def test_a_waiting_host_that_dies_is_named(job: LauncherJob) -> None:
    """SageMaker would end the job too, but without a word."""
    job.source(tool__py="import time; print('up', flush=True); time.sleep(100)")
    job.start("plain", "--on", "leader", "--", "tool.py")
    job.until_said("up", "algo-1")
    job.hosts.kill("algo-2")
    outcome = job.wait()["algo-1"]
    assert outcome.code == 1
    assert str(outcome.failure).startswith("host lost | host algo-2"), outcome.failure


@pytest.mark.parametrize("told", ["algo-1", "algo-2"])
def test_a_stop_reaches_the_leader(job: LauncherJob, told: str) -> None:
    job.source(
        tool__py="""
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: (print("saved", flush=True), sys.exit(0)))
print("up", flush=True)
time.sleep(100)
"""
    )
    job.start("plain", "--on", "leader", "--", "tool.py")
    job.until_said("up", "algo-1")
    job.hosts.signal(told, signal.SIGTERM)
    outcomes = job.wait()
    assert [outcome.code for outcome in outcomes.values()] == [0, 0]
    assert "saved" in outcomes["algo-1"].lines_of("rank 0")
