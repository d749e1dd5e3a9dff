"""mpirun on real hosts, which have no ssh: the launcher's own agent starts Open MPI's daemons."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable

import pytest
from launcher_job import LauncherJob, Outcome

PLAIN = ("mpirun", "--mpi4py", "never")
TWO = (*PLAIN, "--nproc-per-node", "2", "--", "train.py")

SHOW = """
import json, os, sys
names = ("LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "GROUP_RANK", "GROUP_WORLD_SIZE",
         "SM_CURRENT_HOST", "SM_FRAMEWORK_PARAMS", "TRAINING_WORLD_SIZE", "PRIVATE_TOKEN", "OMPI_COMM_WORLD_RANK")
print(json.dumps({"argv": sys.argv[1:], "cwd": os.getcwd(), "stdin": sys.stdin.read(), "host": os.uname().nodename,
                  **{name: os.environ.get(name) for name in ("RANK", *names)}}))
"""


def ranks_of(outcomes: dict[str, Outcome]) -> dict[int, dict[str, str]]:
    """What `SHOW` said, by rank; every host must have ended well."""
    ranks = {}
    for host, outcome in outcomes.items():
        assert outcome.code == 0, outcome.text
        assert outcome.failure is None
        for number in range(8):
            for line in outcome.lines_of(f"rank {number}"):
                ranks[number] = json.loads(line)
                assert ranks[number]["SM_CURRENT_HOST"] == host
    return ranks


def test_ranks_get_the_names_that_torch_reads(job: LauncherJob) -> None:
    """Arguments byte for byte, each host's own environment, though only one host has started all."""
    note = "it's \"quoted\" $(touch /tmp/pwned) `x` *\n\ttwo lines, ünïcödé ☃, back\\slash"
    job.source(train__py=SHOW)
    job.write_config("hyperparameters.json", {"note": note, "lr": "1e-7"})
    outcomes = job.run(*TWO, environment={"PRIVATE_TOKEN": "abcdef-hidden-123456"})
    ranks = ranks_of(outcomes)
    assert sorted(ranks) == [0, 1, 2, 3]
    for number, rank in ranks.items():
        assert rank["RANK"] == rank["OMPI_COMM_WORLD_RANK"] == str(number)
        assert rank["LOCAL_RANK"] == str(number % 2)
        assert rank["WORLD_SIZE"] == rank["TRAINING_WORLD_SIZE"] == "4"
        assert rank["LOCAL_WORLD_SIZE"] == "2"
        assert rank["host"] == rank["SM_CURRENT_HOST"] == f"algo-{1 + number // 2}"
        assert (rank["GROUP_RANK"], rank["GROUP_WORLD_SIZE"]) == (str(number // 2), "2")
        assert (rank["MASTER_ADDR"], rank["MASTER_PORT"]) == ("algo-1", "7777")
        assert rank["argv"] == ["--lr", "1e-7", "--note", note]
        assert rank["cwd"] == "/opt/ml/code"
        assert rank["stdin"] == ""
        assert rank["PRIVATE_TOKEN"] == "abcdef-hidden-123456"
        assert json.loads(rank["SM_FRAMEWORK_PARAMS"])["sagemaker_mpi_num_of_processes_per_host"] == 2
    for host in job.names:
        assert not list((job.hosts.root / host / "tmp").glob("training-launcher-*")), "nothing of the run is left"
        assert not list((job.hosts.root / host / "tmp").glob("ompi.*")), "nor of Open MPI's"


def test_hosts_with_different_numbers_of_ranks(make_job: Callable[..., LauncherJob]) -> None:
    """One rank on the first host and two on each other one."""
    job = make_job(3)
    job.source(train__py=SHOW)
    for name, count in (("algo-1", "1"), ("algo-2", "2"), ("algo-3", "2")):
        job.start(*PLAIN, "--nproc-per-node", count, "--", "train.py", hosts=[name])
    ranks = ranks_of(job.wait())
    places = [(rank["host"], rank["LOCAL_RANK"], rank["LOCAL_WORLD_SIZE"]) for _, rank in sorted(ranks.items())]
    assert places == [
        ("algo-1", "0", "1"),
        ("algo-2", "0", "2"),
        ("algo-2", "1", "2"),
        ("algo-3", "0", "2"),
        ("algo-3", "1", "2"),
    ]
    assert {rank["WORLD_SIZE"] for rank in ranks.values()} == {"5"}
