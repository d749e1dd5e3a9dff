"""A job that Step Functions' own integration runs, `createTrainingJob.sync`: it ends as the others do."""

import json

import boto3
from tests.deploy.conftest import Chain, eventually

from cdk_distributed_training.local.aws import executions


def events(execution: str, kind: str) -> list[dict]:
    pages = boto3.client("stepfunctions").get_paginator("get_execution_history").paginate(executionArn=execution)
    return [event for page in pages for event in page["events"] if event["type"] == kind]


def test_success_without_a_look_in_between(chain: Chain):
    ended = chain.run("waited", "good", steps=2)
    assert (ended.status, ended.cause) == ("SUCCEEDED", "")
    (job,) = chain.jobs("waited-good-")
    assert "ContainerEntrypoint" not in job.request["AlgorithmSpecification"]
    assert ended.output["TrainingJobName"] == job.name
    assert ended.output["ModelArtifacts"]["S3ModelArtifacts"].endswith(f"{job.name}/output/model.tar.gz")
    assert events(ended.arn, "WaitStateEntered") == []
    told = [json.loads(one["taskSucceededEventDetails"]["output"]) for one in events(ended.arn, "TaskSucceeded")]
    assert [one["TrainingJobStatus"] for one in told] == ["Completed", "Completed"]


def test_a_failing_job_is_a_failed_task_with_its_description(chain: Chain):
    ended = chain.run("waited", "bad", mode="fail")
    (job,) = chain.jobs("waited-bad-")
    assert (ended.status, ended.error) == ("FAILED", "TrainingJobFailed")
    assert ended.cause.startswith(f"{job.name}: AlgorithmError: ")
    assert "RuntimeError: loss is NaN at step 7" in ended.cause
    (failed,) = [one["taskFailedEventDetails"] for one in events(ended.arn, "TaskFailed")]
    assert failed["error"] == "States.TaskFailed"
    assert json.loads(failed["cause"])["FailureReason"] == job.failure_reason


def test_a_refused_start_is_tried_again(chain: Chain):
    chain.service.refuse_next("ResourceLimitExceeded", "the limit is 0 Instances")
    ended = chain.run("waited", "refused", steps=1)
    assert ended.status == "SUCCEEDED"
    # the refusal itself comes before the looks for a job that there is not
    failed = [one["taskFailedEventDetails"] for one in events(ended.arn, "TaskFailed")]
    assert failed[0]["error"] == "SageMaker.ResourceLimitExceeded"
    assert {one["resource"] for one in failed[1:]} == {"describeTrainingJob"}


def test_a_stop_of_the_execution_stops_the_job(chain: Chain):
    execution = chain.start("waited", "aborted", {"hyperparameters": {"mode": "wait"}})
    (job,) = eventually(lambda: chain.jobs("waited-aborted-"))
    eventually(lambda: job.secondary_status == "Training" and "waiting" in chain.log(job))
    executions.stop(execution)
    assert executions.wait(execution).status == "ABORTED"
    eventually(lambda: job.status == "Stopped")
