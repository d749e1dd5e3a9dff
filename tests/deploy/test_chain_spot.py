"""Waiting for spare machines, and the time that a spot job has in all."""

import boto3
import pytest
from tests.deploy.conftest import Chain, eventually
from tests.deploy.test_chain_resume import model, saved
from tests.deploy.test_chain_success import digest

from cdk_distributed_training.local.aws import executions

STEPS = 30


@pytest.fixture
def no_spare_machines(chain: Chain):
    chain.service.spot_capacity.set(False)
    yield
    chain.service.spot_capacity.set(True)


def states(job) -> list[str]:
    return [one["Status"] for one in job.description()["SecondaryStatusTransitions"]]


def test_waiting_ends_with_the_time_in_all(chain: Chain, no_spare_machines):
    ended = chain.run("impatient", "waits")
    assert (ended.status, ended.error) == ("FAILED", "TrainingJobMaxWaitTimeExceeded")
    (job,) = chain.jobs("impatient-waits-")
    assert states(job) == ["Starting", "MaxWaitTimeExceeded"]
    told = boto3.client("sagemaker").describe_training_job(TrainingJobName=job.name)
    assert told["TrainingJobStatus"] == "Stopped"
    assert "TrainingStartTime" not in told


def test_running_ends_with_the_time_in_all(chain: Chain):
    # that of waiting and running begins before that of running alone, which is as long here
    ended = chain.run("impatient", "runs", mode="wait")
    assert (ended.status, ended.error) == ("FAILED", "TrainingJobMaxWaitTimeExceeded")
    (job,) = chain.jobs("impatient-runs-")
    assert job.status == "Stopped"
    assert states(job)[-1] == "MaxWaitTimeExceeded"


def test_an_interrupted_job_goes_on_when_there_are_machines_again(chain: Chain):
    execution = chain.start("main", "machines-gone", {"hyperparameters": {"steps": STEPS, "pause": 0.05}})
    (job,) = eventually(lambda: chain.jobs("main-machines-gone-"))
    eventually(lambda: saved(chain) >= 3)
    chain.service.spot_capacity.set(False)
    try:
        job.interrupt()
        eventually(lambda: states(job)[-2:] == ["Interrupted", "Starting"])
        assert job.status == "InProgress"
    finally:
        chain.service.spot_capacity.set(True)
    assert executions.wait(execution).status == "SUCCEEDED"
    assert model(chain, job) == digest(STEPS)


def test_a_job_that_waits_is_stopped(chain: Chain, no_spare_machines):
    execution = chain.start("main", "stopped-early")
    (job,) = eventually(lambda: chain.jobs("main-stopped-early-"))
    executions.stop(execution)
    eventually(lambda: job.status == "Stopped")
    assert states(job) == ["Starting", "Stopped"]
