"""Jobs and starts that fail: each has one clear end, with our own words."""

import re

import boto3
import pytest
from tests.deploy.conftest import Chain, eventually

from cdk_distributed_training.local.aws import executions


def test_a_failing_rank_is_the_executions_cause(chain: Chain):
    ended = chain.run("main", "failing", mode="fail")
    (job,) = chain.jobs("main-failing-")
    assert (ended.status, ended.error) == ("FAILED", "TrainingJobFailed")
    assert ended.cause.startswith(f"{job.name}: AlgorithmError: ")
    assert "host algo-2 rank 1" in ended.cause
    assert "RuntimeError: loss is NaN at step 7" in ended.cause
    assert ended.cause.endswith(", exit code: 1")
    told = boto3.client("sagemaker").describe_training_job(TrainingJobName=job.name)
    assert told["TrainingJobStatus"] == "Failed"
    assert f"{job.name}: {told['FailureReason']}" == ended.cause


@pytest.mark.parametrize(
    "code", ["ResourceLimitExceeded", "ThrottlingException", "CapacityError"], ids=["quota", "throttling", "capacity"]
)
def test_a_start_that_may_work_later_is_tried_again_under_a_new_name(chain: Chain, code):
    names = []
    refuse = chain.service.refusal
    chain.service.refuse_next(code, "Rate exceeded", times=2)
    chain.service.refusal = lambda request: (names.append(request["TrainingJobName"]), refuse(request))[1]
    try:
        ended = chain.run("main", f"again-{code}", steps=1)
    finally:
        del chain.service.refusal
    assert ended.status == "SUCCEEDED"
    assert len(set(names)) == 3
    assert names[-1] == ended.output["TrainingJobName"]
    assert all(re.fullmatch(r"[a-z0-9](-?[a-z0-9])*", name) and len(name) <= 63 for name in names)
    assert len(chain.jobs(f"main-again-{code.lower()}-")) == 1


def test_a_job_that_finds_no_machines_is_tried_again(chain: Chain):
    chain.service.no_machines_for_next()
    ended = chain.run("main", "no-machines", steps=1)
    assert ended.status == "SUCCEEDED"
    assert sorted(job.status for job in chain.jobs("main-no-machines-")) == ["Completed", "Failed"]


def test_tries_end(chain: Chain):
    chain.service.refuse_next("ResourceLimitExceeded", "the limit is 0 Instances", times=6)
    ended = chain.run("main", "never")
    assert (ended.status, ended.error) == ("FAILED", "TrainingJobNotStarted")
    assert "the limit is 0 Instances" in ended.cause
    assert "attempt 6" in ended.cause
    assert chain.jobs("main-never-") == []
    assert chain.service.refusal({}) is None


def test_another_error_is_not_tried_again(chain: Chain):
    chain.service.refuse_next("AccessDeniedException", "not authorized to perform: sagemaker:CreateTrainingJob")
    ended = chain.run("main", "forbidden")
    assert (ended.status, ended.error) == ("FAILED", "TrainingJobNotStarted")
    assert "not authorized" in ended.cause
    assert "attempt 1" in ended.cause


def test_the_time_limit_is_an_outcome_of_its_own(chain: Chain):
    ended = chain.run("short", "slow", mode="wait")
    assert (ended.status, ended.error) == ("FAILED", "TrainingJobMaxRuntimeExceeded")
    (job,) = chain.jobs("short-slow-")
    assert [one["Status"] for one in job.description()["SecondaryStatusTransitions"]][-3:] == [
        "Stopping",
        "Uploading",
        "MaxRuntimeExceeded",
    ]


def test_a_stop_of_the_execution_stops_the_job(chain: Chain):
    execution = chain.start("main", "aborted", {"hyperparameters": {"mode": "wait"}})
    (job,) = eventually(lambda: chain.jobs("main-aborted-"))
    eventually(lambda: job.secondary_status == "Training" and "waiting" in chain.log(job))
    boto3.client("stepfunctions").stop_execution(executionArn=execution, cause="asked")
    assert executions.wait(execution).status == "ABORTED"
    eventually(lambda: job.status == "Stopped")
    assert chain.read("checkpoints/main/stopped-0") == b"saved"
    assert chain.read("checkpoints/main/stopped-1") == b"saved"
    assert "FailureReason" not in job.description()


def test_a_job_that_someone_stops_fails_the_execution(chain: Chain):
    execution = chain.start("main", "stopped", {"hyperparameters": {"mode": "wait"}})
    (job,) = eventually(lambda: chain.jobs("main-stopped-"))
    eventually(lambda: job.secondary_status == "Training" and "waiting" in chain.log(job))
    boto3.client("sagemaker").stop_training_job(TrainingJobName=job.name)
    ended = executions.wait(execution)
    assert (ended.status, ended.error) == ("FAILED", "TrainingJobStopped")


def test_data_that_is_missing_fails_the_job_before_it_trains(chain: Chain):
    bucket = boto3.resource("s3").Bucket(chain.outputs["Bucket"])
    bucket.objects.filter(Prefix="corpus/").delete()
    try:
        ended = chain.run("main", "empty")
    finally:
        bucket.put_object(Key="corpus/part-0.txt", Body=b"hello ")
        bucket.put_object(Key="corpus/deeper/part-1.txt", Body=b"world")
    assert ended.error == "TrainingJobFailed"
    assert "ClientError: Data download failed:No S3 objects found" in ended.cause


def test_a_file_system_that_never_becomes_available_fails_the_job(chain: Chain):
    chain.service.file_systems.set_lifecycle(chain.outputs["FileSystem"], "CREATING")
    try:
        ended = chain.run("shared", "unavailable")
    finally:
        chain.service.file_systems.set_lifecycle(chain.outputs["FileSystem"], "AVAILABLE")
    assert ended.error == "TrainingJobFailed"
    assert "it is CREATING, not AVAILABLE" in ended.cause
