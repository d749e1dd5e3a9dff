"""Multi-node parallel jobs of AWS Batch on three real network hosts."""

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from batch_job import BatchJob

from cdk_distributed_training.local.hosts import NamespaceHosts

NAMES = ("first", "second", "third")
TORCHRUN = ("torchrun", "--nproc-per-node", "1")

ALL_REDUCE = """
import json, os, sys
import torch, torch.distributed as dist
dist.init_process_group("gloo")
total = torch.tensor([float(dist.get_rank() + 1)])
dist.all_reduce(total)
facts = {name: os.environ.get(name) for name in ("SM_CURRENT_HOST", "SM_HOSTS", "GLOO_SOCKET_IFNAME", "MASTER_ADDR")}
print(json.dumps({"rank": dist.get_rank(), "total": total.item(), "argv": sys.argv[1:], **facts}), flush=True)
dist.destroy_process_group()
"""

WAIT = """
import os, time
print("started", flush=True)
time.sleep(600)
"""

FAIL = """
import os, time
if os.environ["RANK"] == "2":
    raise ValueError("loss is NaN")
time.sleep(600)
"""


@pytest.fixture
def make_batch_job(tmp_path: Path) -> Iterator[Callable[..., BatchJob]]:
    with ExitStack() as stack:

        def make(**options: int) -> BatchJob:
            hosts = stack.enter_context(NamespaceHosts(NAMES, tmp_path / "hosts", "batch"))
            return BatchJob(hosts, tmp_path, **options)

        yield make


@pytest.fixture
def job(make_batch_job: Callable[..., BatchJob]) -> BatchJob:
    return make_batch_job()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("main", [0, 1])
def test_one_world_over_three_nodes(make_batch_job: Callable[..., BatchJob], main: int) -> None:
    """Children come first and wait for the main node; each reaches it by its address alone."""
    job = make_batch_job(main=main)
    job.source(train__py=ALL_REDUCE)
    job.write_config("hyperparameters.json", {"lr": "0.1"})
    children = [name for name in NAMES if name != NAMES[main]]
    job.start_nodes(*TORCHRUN, "--", "train.py", hosts=children)
    job.start_nodes(*TORCHRUN, "--", "train.py", hosts=[NAMES[main]])
    outcomes = job.wait(200)
    assert [outcome.code for outcome in outcomes.values()] == [0, 0, 0], outcomes
    order = [*NAMES[main:], *NAMES[:main]]
    for rank, name in enumerate(order):
        said = next(json.loads(line) for line in outcomes[name].lines_of(f"rank {rank}") if line.startswith("{"))
        assert said == {
            "rank": rank,
            "total": 6.0,
            "argv": ["--lr", "0.1"],
            "SM_CURRENT_HOST": f"algo-{rank + 1}",
            "SM_HOSTS": '["algo-1","algo-2","algo-3"]',
            "GLOO_SOCKET_IFNAME": "eth0",
            "MASTER_ADDR": f"10.77.0.{11 + main}",
        }


@pytest.mark.timeout(200)
def test_a_failing_rank_ends_every_node(job: BatchJob) -> None:
    job.source(train__py=FAIL)
    job.start_nodes("processes", "--nproc-per-node", "1", "--", "train.py")
    outcomes = job.wait(120)
    assert [outcome.code for outcome in outcomes.values()] == [1, 1, 1]
    for outcome in outcomes.values():
        first = str(outcome.failure).splitlines()[0]
        assert first == "exception | host algo-3 rank 2 (local rank 0) | exit code 1 | ValueError: loss is NaN"


@pytest.mark.timeout(200)
def test_the_main_node_dies_while_ranks_run(job: BatchJob) -> None:
    job.source(train__py=WAIT)
    job.start_nodes("processes", "--nproc-per-node", "1", "--", "train.py")
    job.until_said("started", *NAMES, seconds=120)
    job.hosts.kill("first")
    outcomes = job.wait(120)
    for name in NAMES[1:]:
        assert outcomes[name].code == 1
        assert str(outcomes[name].failure).startswith("host lost | host algo-1 | ")


@pytest.mark.timeout(200)
def test_a_child_dies_while_ranks_run(job: BatchJob) -> None:
    job.source(train__py=WAIT)
    job.start_nodes("processes", "--nproc-per-node", "1", "--", "train.py")
    job.until_said("started", *NAMES, seconds=120)
    job.hosts.kill("third")
    outcomes = job.wait(120)
    for name in NAMES[:2]:
        assert outcomes[name].code == 1
        assert str(outcomes[name].failure).startswith("host lost | host algo-3 | ")


@pytest.mark.timeout(200)
def test_a_child_that_does_not_come(job: BatchJob) -> None:
    """Every node that is there says the same, and which one is missing."""
    job.source(train__py=WAIT)
    job.start_nodes("processes", "--name-timeout", "8", "--", "train.py", hosts=NAMES[:2])
    outcomes = job.wait(120)
    assert outcomes["first"].code == 3
    assert "algo-3 did not come to port 7775 of algo-1 within 8 s" in str(outcomes["first"].failure)
    # on a busy machine the child may have come too late to hear it
    assert outcomes["second"].code == 3
    assert str(outcomes["second"].failure).startswith("host missing | ")


@pytest.mark.timeout(200)
def test_a_main_node_that_does_not_come(job: BatchJob) -> None:
    job.source(train__py=WAIT)
    job.start_nodes("processes", "--name-timeout", "3", "--", "train.py", hosts=NAMES[1:])
    outcomes = job.wait(120)
    for number, name in enumerate(NAMES[1:], 2):
        assert outcomes[name].code == 3
        assert f"algo-1, the main node at 10.77.0.11, does not answer algo-{number}" in str(outcomes[name].failure)


@pytest.mark.timeout(200)
def test_a_stop_before_all_are_there(job: BatchJob) -> None:
    job.source(train__py=WAIT)
    job.start_nodes("processes", "--", "train.py", hosts=NAMES[:2])
    job.until(lambda: all(job.hosts.listens(name, signal.SIGTERM) for name in NAMES[:2]))
    job.hosts.signal("first", signal.SIGTERM)
    outcome = job.wait_for("first", 120)
    assert outcome == 143
    job.hosts.signal("second", signal.SIGTERM)  # as Batch does it, once the main node has ended
    assert [end.code for end in job.wait(120).values()] == [143, 143]


@pytest.mark.timeout(200)
def test_nodes_of_another_job_are_sent_away(job: BatchJob) -> None:
    job.source(train__py="print('done')\n")
    processes = ("processes", "--nproc-per-node", "1", "--", "train.py")
    job.start_nodes(*processes, hosts=NAMES[:2])
    job.start_nodes(*processes, hosts=NAMES[2:], AWS_BATCH_JOB_ID="fedcba98#2")
    job.until(lambda: "belongs to another job" in job.output("first"), 120)
    assert job.wait_for("third", 120) == 3
    assert "algo-1: algo-3 belongs to another job" in (job.opt_ml("third") / "output/failure").read_text()
    job.start_nodes(*processes, hosts=NAMES[2:])
    outcomes = job.wait(120)
    assert [outcome.code for outcome in outcomes.values()] == [0, 0, 0], outcomes


@pytest.mark.timeout(200)
def test_one_node_needs_no_other(job: BatchJob) -> None:
    job.source(train__py="import os\nprint(os.environ['SM_HOSTS'], os.environ['MASTER_ADDR'])\n")
    job.start_nodes(
        "processes", "--nproc-per-node", "1", "--", "train.py", hosts=NAMES[:1], AWS_BATCH_JOB_NUM_NODES="1"
    )
    outcomes = job.wait(120)
    assert outcomes["first"].code == 0, outcomes["first"].text
    assert outcomes["first"].lines_of("rank 0") == ['["algo-1"] 127.0.0.1']


@pytest.mark.timeout(60)
def test_a_plan_is_printed_without_meeting_anyone(job: BatchJob) -> None:
    job.source(train__py=WAIT)
    job.start_nodes(*TORCHRUN, "--dry-run", "--", "train.py", hosts=["second"])
    outcome = job.wait(120)["second"]
    assert outcome.code == 0, outcome.text
    assert json.loads(outcome.text)["hosts"] == ["algo-1", "algo-2", "algo-3"]
