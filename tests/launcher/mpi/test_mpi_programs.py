"""Programs that use MPI themselves, by mpi4py, over Open MPI's own network on real hosts."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path

import pytest
from launcher_job import SOURCE, LauncherJob, zip_folder
from open_mpi import OpenMpi, on_both_versions

from cdk_distributed_training.local.hosts import LoopbackHosts

RANK = (Path(__file__).parent / "mpi_rank.py").read_text()
TWO = ("mpirun", "--nproc-per-node", "2", "--", "train.py")


@pytest.fixture(scope="module")
def with_mpi4py() -> dict[str, str]:
    """The environment in which the hosts find mpi4py, wherever it is installed here."""
    found = importlib.util.find_spec("mpi4py")
    assert found, "install mpi4py: it is in the extra `test`"
    assert found.origin
    return {"PYTHONPATH": str(Path(found.origin).parents[1])}


@on_both_versions
def test_ranks_of_all_hosts_are_one_world(job: LauncherJob, with_mpi4py: dict[str, str]) -> None:
    """Messages go between the hosts, under the guard and `-m mpi4py`."""
    job.source(train__py=RANK)
    outcomes = job.run(*TWO, environment=with_mpi4py)
    for host, ranks in (("algo-1", (0, 1)), ("algo-2", (2, 3))):
        assert outcomes[host].code == 0, outcomes[host].text
        for rank in ranks:
            assert outcomes[host].lines_of(f"rank {rank}") == ["sum 10 of 4"]
    assert " -u -m mpi4py train.py" in outcomes["algo-1"].text


@on_both_versions
def test_nodes_of_slurm_with_dockers_bridge(job: LauncherJob, with_mpi4py: dict[str, str]) -> None:
    """It has the same address on every node; without the name of the right interface Open MPI calls itself there."""
    job.source(train__py=RANK)
    start = job.hosts.start
    bridge = "ip link add docker0 type veth peer name port && ip addr add 172.17.0.1/16 dev docker0"
    wrapper = ["/bin/sh", "-c", f'{bridge} && ip link set docker0 up && ip link set port up && exec "$@"', "sh"]
    job.hosts.start = lambda host, argv, env: start(host, [*wrapper, *argv], env)  # type: ignore[method-assign]
    for host in job.names:
        (job.opt_ml(host) / "input/config/resourceconfig.json").unlink()
        variables = {"SLURM_JOB_ID": "1", "SLURM_STEP_NODELIST": "algo-[1-2]", "SLURMD_NODENAME": host}
        job.start(*TWO, hosts=[host], environment={**with_mpi4py, **variables})
    outcomes = job.wait()
    for host, ranks in (("algo-1", (0, 1)), ("algo-2", (2, 3))):
        assert outcomes[host].code == 0, outcomes[host].text
        for rank in ranks:
            assert outcomes[host].lines_of(f"rank {rank}") == ["sum 10 of 4"]


def test_an_exception_ends_ranks_that_wait_in_mpi(job: LauncherJob, with_mpi4py: dict[str, str]) -> None:
    """Without `-m mpi4py` the failing rank would wait for the others before it ends."""
    job.source(train__py=RANK)
    outcomes = job.run(*TWO, "raise", environment=with_mpi4py)
    for outcome in outcomes.values():
        assert outcome.code == 1, outcome.text
        assert str(outcome.failure).startswith(
            "exception | host algo-1 rank 1 (local rank 1) | exit code 1 | ArithmeticError: no such number"
        ), outcome.failure


def test_a_killed_rank_ends_ranks_that_wait_in_mpi(job: LauncherJob, with_mpi4py: dict[str, str]) -> None:
    """Whatever Open MPI makes of the broken connection."""
    job.source(train__py=RANK)
    outcomes = job.run(*TWO, "kill", environment=with_mpi4py)
    for outcome in outcomes.values():
        assert outcome.code == 137, outcome.text
        assert str(outcome.failure).startswith("signal | host algo-2 rank 3 (local rank 1) | signal SIGKILL")


@on_both_versions
def test_hosts_that_share_one_machine(tmp_path: Path, with_mpi4py: dict[str, str], open_mpi: OpenMpi) -> None:
    """Loopback addresses for hosts, whose names mean nothing: then Open MPI's daemon runs on the leader too."""
    processes, outputs = {}, {}
    with LoopbackHosts(["algo-1", "algo-2"], tmp_path / "hosts", "mpi") as hosts:
        zip_folder(SOURCE, tmp_path / "launcher.zip")
        (tmp_path / "code").mkdir()
        (tmp_path / "code/train.py").write_text(RANK)
        for name in hosts.names:
            config = {"current_host": name, "hosts": list(hosts.names), "network_interface_name": hosts.interface}
            (hosts.opt_ml(name) / "input/config/resourceconfig.json").write_text(json.dumps(config))
            zip_folder(tmp_path / "code", hosts.opt_ml(name) / "input/data/code/4567cdef.zip")
            words = ["mpirun", "--control-port", "17775", "--master-port", "17777", *TWO[1:]]
            path = f"{open_mpi.folder}/bin:{os.environ['PATH']}"
            environment = {"PATH": path, "TRAINING_JOB_NAME": "job-1", **with_mpi4py}
            processes[name] = hosts.start(
                name, [sys.executable, "-u", str(tmp_path / "launcher.zip"), *words], environment
            )
        for name, process in processes.items():
            outputs[name] = process.communicate(timeout=60)[0].decode()
            assert process.returncode == 0, outputs[name]
    for host, ranks in (("algo-1", (0, 1)), ("algo-2", (2, 3))):
        for rank in ranks:
            assert f"[{host} rank {rank}] sum 10 of 4\n" in outputs[host]
