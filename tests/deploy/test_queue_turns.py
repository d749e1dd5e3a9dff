"""Whose turn it is in a queue for training jobs, and what becomes of a job, without anything that trains."""

import collections
import itertools
import json

import boto3
import pytest
from botocore.exceptions import ClientError
from tests.deploy.conftest import eventually

from cdk_distributed_training.local.aws.queues.queue_service import Environment, Queue, QueueError, QueueService
from cdk_distributed_training.local.aws.queues.service_job import ServiceJob
from cdk_distributed_training.local.aws.queues.turns import FairShares, FirstInFirstOut, QuotaShares

QUEUE = "arn:aws:batch:us-east-1:123456789012:job-queue/queue"
ENVIRONMENT = "arn:aws:batch:us-east-1:123456789012:service-environment/machines"
NUMBERS = itertools.count()


def job(share="", *, count=1, kind="ml.p5.48xlarge", priority=0, **submitted):
    number = next(NUMBERS)
    payload = {"ResourceConfig": {"InstanceType": kind, "InstanceCount": count}}
    request = {
        "jobName": f"job-{number}",
        "jobQueue": QUEUE,
        "schedulingPriority": priority,
        "serviceRequestPayload": json.dumps(payload),
        **({"shareIdentifier": share} if share else {}),
        **submitted,
    }
    return ServiceJob(request, QUEUE, f"arn:aws:batch:us-east-1:1:service-job/{number}", str(number), number)


def order(turns, waiting, begun=()):
    """The order in which jobs come, if each one fits."""
    waiting, begun, found = list(waiting), list(begun), []
    while waiting and (heads := turns.heads(waiting, begun)):
        turns.started(heads[0])
        waiting.remove(heads[0])
        begun.append(heads[0])
        found.append(heads[0])
    return found


def test_without_a_policy_the_first_is_the_first():
    jobs = [job(priority=priority) for priority in (1, 9, 5)]
    assert order(FirstInFirstOut(), jobs) == jobs


def test_fair_shares_get_machines_by_their_weight():
    turns = FairShares(
        {"ShareDistribution": [{"ShareIdentifier": "a"}, {"ShareIdentifier": "b*", "WeightFactor": 0.5}]}
    )
    jobs = [job("a") for _ in range(6)] + [job("b1") for _ in range(6)]
    shares = [one.share for one in order(turns, jobs)]
    assert collections.Counter(shares[:6]) == {"a": 2, "b1": 4}
    assert (turns.weight("b1"), turns.weight("b"), turns.weight("c")) == (0.5, 0.5, 1.0)


def test_in_a_share_the_highest_priority_comes_first():
    low, high, late = job("a", priority=1), job("a", priority=9), job("a", priority=9)
    assert order(FairShares({}), [low, high, late]) == [high, late, low]


def test_machines_are_kept_free_for_shares_without_jobs():
    turns = FairShares({"ComputeReservation": 50})
    assert turns.limit(8, [job("a")]) == 4
    assert turns.limit(8, [job("a"), job("b")]) == 6
    assert FairShares({}).limit(8, [job("a")]) == 8


def quotas(**shares):
    turns = QuotaShares()
    for name, (own, strategy, more) in shares.items():
        turns.shares[name] = {
            "CapacityLimits": [{"CapacityUnit": "ml.p5.48xlarge", "MaxCapacity": own}],
            "ResourceSharingConfiguration": {"Strategy": strategy, **more},
            "PreemptionConfiguration": {"InSharePreemption": "ENABLED" if own == 2 else "DISABLED"},
        }
    return turns


@pytest.mark.parametrize(
    ("lender", "borrower", "expected"),
    [
        ("LEND", ("LEND_AND_BORROW", {}), 4),
        ("RESERVE", ("LEND_AND_BORROW", {}), 2),
        ("LEND", ("LEND", {}), 2),
        ("LEND", ("LEND_AND_BORROW", {"BorrowLimit": 50}), 3),
        ("LEND", ("LEND_AND_BORROW", {"BorrowLimit": 0}), 2),
    ],
)
def test_a_share_borrows_what_another_lends(lender, borrower, expected):
    turns = quotas(a=(2, *borrower), b=(2, lender, {}))
    assert len(order(turns, [job(quotaShareName="a") for _ in range(6)])) == expected


def test_a_share_has_machines_of_its_types_only():
    turns = quotas(a=(2, "LEND_AND_BORROW", {}))
    assert order(turns, [job(quotaShareName="a", kind="ml.c7i.large")]) == []


def test_what_was_lent_is_taken_back():
    turns = quotas(a=(2, "LEND_AND_BORROW", {}), b=(3, "LEND", {}))
    borrowers = [job(quotaShareName="a") for _ in range(5)]
    owner = job(quotaShareName="b")
    assert turns.heads([owner], borrowers) == []
    assert turns.preempted_by(owner, borrowers) is borrowers[-1]


def test_a_higher_priority_makes_room_in_its_share():
    turns = quotas(a=(2, "RESERVE", {}), b=(3, "RESERVE", {}))
    begun = [job(quotaShareName="a", priority=priority) for priority in (3, 2)]
    assert turns.preempted_by(job(quotaShareName="a", priority=3), begun) is begun[1]
    assert turns.preempted_by(job(quotaShareName="a", priority=2), begun) is None
    full = [job(quotaShareName="b") for _ in range(3)]
    assert turns.preempted_by(job(quotaShareName="b", priority=9), full) is None


class Planned:
    """Training jobs that end as they are told to."""

    def __init__(self):
        self.created, self.stopped, self.refusals, self.state = [], [], [], {}

    def create(self, request):
        if self.refusals:
            return self.refusals.pop(0)
        self.created.append(request["TrainingJobName"])
        self.state[self.created[-1]] = ("InProgress", "Starting", "")
        return ""

    def stop(self, name):
        self.stopped.append(name)
        self.service.told(name)
        self.state[name] = ("Stopped", "Stopped", "")

    def look(self, name):
        return self.state[name]

    def end(self, name, status, secondary, reason=""):
        self.state[name] = (status, secondary, reason)
        self.service.told(name)


@pytest.fixture
def planned():
    trainer = Planned()
    trainer.service = QueueService(trainer)
    trainer.service.environments[ENVIRONMENT] = Environment(name="machines", arn=ENVIRONMENT, capacity=2)
    trainer.service.queues[QUEUE] = Queue(name="queue", arn=QUEUE, environments=[ENVIRONMENT])
    trainer.service.start()
    yield trainer
    trainer.service.close()


def submit(planned, **given):
    return planned.service.submit(job(**given).submitted)


def test_a_job_goes_through_the_statuses(planned):
    one = submit(planned)
    (name,) = eventually(lambda: planned.created)
    assert name.startswith("AWSBatchjob-")
    assert len(name) <= 63
    assert one.status == "SCHEDULED"
    for secondary, status in (("Downloading", "STARTING"), ("Training", "RUNNING"), ("Uploading", "RUNNING")):
        planned.end(name, "InProgress", secondary)
        eventually(lambda status=status: one.status == status)
    planned.end(name, "Completed", "Completed")
    eventually(lambda: one.status == "SUCCEEDED")
    told = one.description()
    assert told["latestAttempt"]["serviceResourceId"]["value"].endswith(f":training-job/{name}")
    assert told["attempts"][0]["statusReason"] == "Received status from SageMaker: Training job Completed"


def test_capacity_is_kept_and_a_head_that_does_not_fit_is_waited_for(planned):
    jobs = [submit(planned, count=count) for count in (1, 2, 1)]
    eventually(lambda: planned.created)
    assert [one.status for one in jobs[1:]] != ["SCHEDULED"] * 2
    planned.end(planned.created[0], "Completed", "Completed")
    eventually(lambda: len(planned.created) == 2)
    assert jobs[1].training_job == planned.created[1]
    planned.end(planned.created[1], "Completed", "Completed")
    eventually(lambda: len(planned.created) == 3)


RULES = [{"action": "RETRY", "onStatusReason": "*Internal*"}, {"action": "EXIT", "onStatusReason": "*"}]


@pytest.mark.parametrize(
    ("strategy", "reason", "attempts"),
    [
        ({}, "InternalServerError: x", 1),
        ({"attempts": 3}, "AlgorithmError: x", 3),
        ({"attempts": 3, "evaluateOnExit": RULES}, "InternalServerError: x", 3),
        ({"attempts": 3, "evaluateOnExit": RULES}, "AlgorithmError: x", 1),
        ({"attempts": 3, "evaluateOnExit": RULES[:1]}, "AlgorithmError: x", 3),
    ],
)
def test_failures_are_tried_again_by_the_rules(planned, strategy, reason, attempts):
    one = submit(planned, **({"retryStrategy": strategy} if strategy else {}))
    for number in range(attempts):
        eventually(lambda number=number: len(planned.created) == number + 1)
        planned.end(planned.created[-1], "Failed", "Failed", reason)
    eventually(lambda: one.status == "FAILED")
    assert len(planned.created) == attempts
    assert one.reason == f"Received status from SageMaker: {reason}"


def test_attempts_without_machines_do_not_count(planned):
    planned.refusals += ["ResourceLimitExceeded: 0 Instances", "ThrottlingException: Rate exceeded"]
    one = submit(planned)
    eventually(lambda: planned.created)
    planned.end(planned.created[0], "Failed", "Failed", "CapacityError: no machines")
    eventually(lambda: len(planned.created) == 2)
    assert (one.counted, len(one.attempts)) == (0, 3)


def test_a_refused_request_is_a_failed_attempt(planned):
    planned.refusals += ["ValidationException: unknown member"]
    one = submit(planned)
    eventually(lambda: one.status == "FAILED")
    assert "unknown member" in one.reason
    assert "latestAttempt" not in one.description()


def test_termination(planned):
    runs = submit(planned, count=2, retryStrategy={"attempts": 3})
    waits = submit(planned)
    eventually(lambda: planned.created)
    planned.service.terminate(waits.job_id, "not wanted")
    eventually(lambda: waits.status == "FAILED")
    planned.service.terminate(runs.job_id, "enough")
    eventually(lambda: runs.status == "FAILED")
    assert planned.stopped == planned.created
    assert (waits.reason, runs.reason) == ("not wanted", "enough")
    assert runs.description()["isTerminated"]


def test_an_attempt_that_takes_too_long_is_stopped(planned):
    one = submit(planned, timeoutConfig={"attemptDurationSeconds": 0.1})
    eventually(lambda: one.status == "FAILED")
    assert one.reason == "Job attempt duration exceeded timeout"


def test_a_head_that_waits_too_long_is_cancelled(planned):
    planned.service.queues[QUEUE].head_seconds = 0.1
    planned.service.queues[QUEUE].head_reason = "no capacity"
    one = submit(planned, count=3)
    eventually(lambda: one.status == "FAILED")
    assert (one.reason, planned.created) == ("no capacity", [])


@pytest.mark.parametrize(("most", "status"), [(None, "RUNNABLE"), (1, "RUNNABLE"), (0, "FAILED")])
def test_who_gives_way_waits_again(planned, most, status):
    queue = planned.service.queues[QUEUE]
    queue.turns = quotas(a=(2, "RESERVE", {}))
    limit = {} if most is None else {"preemptionConfiguration": {"preemptionRetriesBeforeTermination": most}}
    low = submit(planned, count=2, quotaShareName="a", priority=1, **limit)
    eventually(lambda: planned.created)
    high = submit(planned, count=2, quotaShareName="a", priority=9)
    eventually(lambda: high.status == "SCHEDULED")
    assert (low.status, low.preempted, low.counted) == (status, 1, 0)


def test_one_token_is_one_job(planned):
    first = submit(planned, clientToken="token")
    assert submit(planned, clientToken="token") is first


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"share": "a"}, "has no scheduling policy"),
        ({"jobQueue": "other"}, "Job queue other does not exist"),
    ],
)
def test_wrong_submissions(planned, given, problem):
    with pytest.raises(QueueError, match=problem):
        submit(planned, **given)


def test_shares_must_be_named():
    assert "names none" in FairShares({}).problem({})
    assert "has no quota share b: a" in quotas(a=(1, "LEND", {})).problem({"quotaShareName": "b"})


def test_queues_by_the_api(service):
    batch = boto3.client("batch")
    made = batch.create_service_environment(
        serviceEnvironmentName="by-api",
        serviceEnvironmentType="SAGEMAKER_TRAINING",
        capacityLimits=[{"capacityUnit": "NUM_INSTANCES", "maxCapacity": 2}],
    )
    queue = batch.create_job_queue(
        jobQueueName="by-api",
        jobQueueType="SAGEMAKER_TRAINING",
        priority=1,
        serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": made["serviceEnvironmentArn"]}],
    )["jobQueueArn"]
    try:
        submitted = {
            "jobName": "by-api",
            "jobQueue": queue,
            "serviceJobType": "SAGEMAKER_TRAINING",
            "serviceRequestPayload": '{"TrainingJobName": "incomplete"}',
        }
        job_id = batch.submit_service_job(**submitted)["jobId"]
        eventually(lambda: batch.describe_service_job(jobId=job_id)["status"] == "FAILED")
        assert "Missing required parameter" in batch.describe_service_job(jobId=job_id)["statusReason"]
        named = [{"name": "JOB_NAME", "values": ["BY-*"]}]
        assert [one["jobId"] for one in batch.list_service_jobs(jobQueue=queue, filters=named)["jobSummaryList"]] == [
            job_id
        ]
        assert batch.list_service_jobs(jobQueue=queue)["jobSummaryList"] == []
        with pytest.raises(ClientError, match="no JSON"):
            batch.submit_service_job(**{**submitted, "serviceRequestPayload": "{"})
        with pytest.raises(ClientError, match="does not exist"):
            batch.terminate_service_job(jobId="none", reason="x")
    finally:
        service.queues.environments.pop(made["serviceEnvironmentArn"])
        service.queues.queues.pop(queue)
