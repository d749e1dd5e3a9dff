"""The launcher with real torchrun on real hosts. torchrun imports torch, seconds a host: few runs, many assertions."""

import json
import signal

import pytest
from launcher_job import LauncherJob

TORCHRUN = ("torchrun", "--nproc-per-node", "2")

DDP = """
import json, os, sys
import torch, torch.distributed as dist
dist.init_process_group("gloo")
rank = dist.get_rank()
total = torch.ones(1)
dist.all_reduce(total)
torch.manual_seed(rank)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    model(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
weights = [round(value, 6) for parameter in model.parameters() for value in parameter.flatten().tolist()]
print(json.dumps({"total": total.item(), "weights": weights, "argv": sys.argv[1:], "module": __name__}), flush=True)
dist.destroy_process_group()
os._exit(0)  # a gloo thread, which the model keeps, can abort Python's own end
"""


@pytest.mark.timeout(200)
def test_distributed_data_parallel_over_two_hosts(job: LauncherJob) -> None:
    """One world of four ranks that train one model."""
    note = 'it\'s "quoted"\nünd ☃ -- $x'
    job.source(train__py=DDP)
    job.write_config("hyperparameters.json", {"note": note})
    # what an outer mpirun, or an image that was saved under one, says of its own ranks
    outer = {f"OMPI_COMM_WORLD_{name}": "1" for name in ("RANK", "SIZE", "LOCAL_RANK", "LOCAL_SIZE")}
    outcomes = job.run(*TORCHRUN, "--", "train.py", "--", "-x", environment=outer)
    assert [outcome.code for outcome in outcomes.values()] == [0, 0], outcomes
    results = [
        json.loads(next(line for line in outcomes[host].lines_of(f"rank {rank}") if line.startswith("{")))
        for host, rank in (("algo-1", 0), ("algo-1", 1), ("algo-2", 2), ("algo-2", 3))
    ]
    assert [result["total"] for result in results] == [4.0] * 4
    assert all(result["weights"] == results[0]["weights"] for result in results)
    assert all(result["argv"] == ["--", "-x", "--note", note] for result in results)
    assert all(result["module"] == "__main__" for result in results)
    assert all("Traceback" not in outcome.text for outcome in outcomes.values()), "a success looks like one"


@pytest.mark.timeout(200)
def test_an_exception_under_torchrun(job: LauncherJob) -> None:
    """torchrun alone would let each host end with a text of its own."""
    job.source(
        train__py="""
import os, time
if os.environ["RANK"] == "3":
    print("before")
    raise ValueError("loss is NaN")
time.sleep(100)
"""
    )
    outcomes = job.run(*TORCHRUN, "--", "train.py")
    assert [outcome.code for outcome in outcomes.values()] == [1, 1]
    for outcome in outcomes.values():
        first, *detail = str(outcome.failure).splitlines()
        assert first == "exception | host algo-2 rank 3 (local rank 1) | exit code 1 | ValueError: loss is NaN"
        assert '  File "/opt/ml/code/train.py", line 5, in <module>' in detail
    assert "before" in outcomes["algo-2"].lines_of("rank 3")


@pytest.mark.timeout(200)
def test_a_stop_under_torchrun(job: LauncherJob) -> None:
    """Ranks that end at different times: the first end must not cut off the others' saving."""
    job.source(
        train__py="""
import os, signal, sys, time
rank = int(os.environ["RANK"])
def save(*_):
    time.sleep(0.5 * rank)
    open(f"/opt/ml/checkpoints/rank-{rank}", "w").write("saved")
    sys.exit(0 if rank else 9)
signal.signal(signal.SIGTERM, save)
print("training", flush=True)
time.sleep(100)
""",
        start__sh='exec python3 train.py "$@"\n',
    )
    job.start(*TORCHRUN, "--", "start.sh")
    job.until(lambda: all(job.output(name).count("] training\n") == 2 for name in job.names), 100)
    job.hosts.signal("algo-2", signal.SIGTERM)
    outcomes = job.wait()
    assert [outcome.code for outcome in outcomes.values()] == [143, 143]
    assert [outcome.failure for outcome in outcomes.values()] == [None, None]
    for name, ranks in (("algo-1", (0, 1)), ("algo-2", (2, 3))):
        for rank in ranks:
            assert (job.opt_ml(name) / f"checkpoints/rank-{rank}").exists(), rank


RESTART = """
import os, signal
rank, once = os.environ["RANK"], "/opt/ml/checkpoints/once"
print("attempt", flush=True)
if rank == "3" and os.path.exists(once) and os.environ.get("HOPELESS"):
    raise ValueError("again")
import torch.distributed as dist
dist.init_process_group("gloo")
dist.barrier()
# all four are here, as in training
if rank == "3" and not os.path.exists(once):
    open(once, "w").close()
    os.kill(os.getpid(), signal.SIGKILL)
dist.barrier()
dist.destroy_process_group()
print("done", flush=True)
"""


@pytest.mark.timeout(250)
@pytest.mark.parametrize("hopeless", [False, True])
def test_restarts_over_two_hosts(job: LauncherJob, hopeless: bool) -> None:
    """All ranks begin again after one is killed; when that does not help, the last failure is the cause."""
    job.source(train__py=RESTART)
    environment = {"HOPELESS": "1"} if hopeless else {}
    job.start(*TORCHRUN, "--max-restarts", "1", "--", "train.py", environment=environment)
    outcomes = job.wait(200)
    if hopeless:
        assert [outcome.code for outcome in outcomes.values()] == [1, 1]
        for outcome in outcomes.values():
            assert str(outcome.failure).startswith(
                "exception | host algo-2 rank 3 (local rank 1) | exit code 1 | ValueError: again"
            )
        return
    assert [outcome.code for outcome in outcomes.values()] == [0, 0]
    for name, ranks in (("algo-1", (0, 1)), ("algo-2", (2, 3))):
        for rank in ranks:
            said = outcomes[name].lines_of(f"rank {rank}")
            assert said.count("done") == 1
            assert said.count("attempt") == 2


@pytest.mark.timeout(200)
def test_one_host_and_no_torch(make_job: object) -> None:
    """On one host a free port is chosen; an image without torch says so."""
    job: LauncherJob = make_job(1)  # type: ignore[operator]
    job.source(train__py="import os; print(os.environ['RANK'], os.environ['WORLD_SIZE'])")
    outcome = job.run(*TORCHRUN, "--", "train.py")["algo-1"]
    assert outcome.code == 0, outcome.text
    assert (outcome.lines_of("rank 0"), outcome.lines_of("rank 1")) == (["0 2"], ["1 2"])
    (job.opt_ml("algo-1") / "code/torch.py").write_text("raise ModuleNotFoundError(\"No module named 'torch'\")")
    outcome = job.run(*TORCHRUN, "--", "train.py")["algo-1"]
    assert outcome.code == 1
    assert "host algo-1 | exit code 1 | torchrun: " in str(outcome.failure)
    assert "torch" in str(outcome.failure)
