"""Work that goes on: after interruptions of spot capacity, and in a new execution."""

import io
import json
import random
import tarfile

import boto3
import pytest
from tests.deploy.conftest import Chain, eventually
from tests.deploy.test_chain_success import digest

from cdk_distributed_training.local.aws import executions

STEPS = 60


def model(chain: Chain, job) -> str:
    with tarfile.open(fileobj=io.BytesIO(chain.read(f"output/{job.name}/output/model.tar.gz"))) as archive:
        return archive.extractfile("digest").read().decode()


def test_three_interruptions_change_nothing(chain: Chain):
    execution = chain.start("main", "spot", {"hyperparameters": {"steps": STEPS, "pause": 0.05}})
    (job,) = eventually(lambda: chain.jobs("main-spot-"))
    steps = sorted(random.sample(range(3, STEPS - 15), 3))
    for number, step in enumerate(steps):
        eventually(lambda step=step: saved(chain) >= step)
        job.interrupt()
        eventually(lambda number=number: job.interruptions == number + 1)
        eventually(lambda: job.secondary_status == "Training")
    ended = executions.wait(execution)
    assert (ended.status, ended.cause) == ("SUCCEEDED", ""), f"interrupted at {steps}"
    assert model(chain, job) == digest(STEPS)
    states = [one["Status"] for one in job.description()["SecondaryStatusTransitions"]]
    once = ["Starting", "Downloading", "Training"]
    assert states == [*once, *["Interrupted", *once] * 3, "Uploading", "Completed"]
    # whoever is killed may not have said so; the two of the last attempt have
    assert chain.log(job).count("resumed at step") >= 2


def saved(chain: Chain) -> int:
    client = boto3.client("s3")
    try:
        return int(json.loads(chain.read("checkpoints/main/state.json"))["step"])
    except client.exceptions.NoSuchKey:
        return 0


def test_a_new_execution_goes_on_where_the_last_one_stopped(chain: Chain):
    assert chain.run("main", "first-half", steps=3).status == "SUCCEEDED"
    assert chain.run("main", "second-half", steps=7).status == "SUCCEEDED"
    (job,) = chain.jobs("main-second-half-")
    assert "resumed at step 3" in chain.log(job)
    assert model(chain, job) == digest(7)


def test_only_a_job_that_trains_can_be_interrupted(chain: Chain):
    chain.run("main", "over", steps=1)
    (job,) = chain.jobs("main-over-")
    with pytest.raises(ValueError, match="not training and cannot be interrupted: Completed"):
        job.interrupt()
