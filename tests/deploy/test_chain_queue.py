"""Many jobs through a queue: each one's result is accounted for, and machines and order are kept.

A dozen jobs on every change; `QUEUED_JOBS=200 pytest tests/deploy/test_chain_queue.py` runs two hundred.
"""

import collections
import io
import json
import os
import tarfile
from pathlib import Path

import aws_cdk as cdk
import boto3
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3
from tests.deploy.conftest import eventually

import cdk_distributed_training as dt
from cdk_distributed_training.local.aws import executions
from cdk_distributed_training.local.aws.additions import short_waits
from cdk_distributed_training.local.aws.cdk_cli import CdkCli

COUNT = int(os.environ.get("QUEUED_JOBS", "12"))
MACHINES = 3
WEIGHTS = {"vision": 1.0, "speech": 0.5}
RULES = [
    dt.AttemptRule(reason="*out of luck*", action="RETRY"),
    dt.AttemptRule(reason="*", action="EXIT"),
]
# what becomes of every twelfth run, by its place among twelve
PARTICULAR = {3: "broken", 5: "unlucky", 7: "leaves", 10: "stopped"}
PATIENCE = 120 + 10 * COUNT


def synthesize(folder):
    app = cdk.App(outdir=str(folder))
    stack = cdk.Stack(app, "Queued")
    bucket = s3.Bucket(stack, "Data", removal_policy=cdk.RemovalPolicy.DESTROY)
    vpc = ec2.Vpc.from_vpc_attributes(
        stack,
        "Vpc",
        vpc_id="vpc-0123456789abcdef0",
        availability_zones=["us-east-1a"],
        private_subnet_ids=["subnet-0123456789abcdef0"],
    )
    job = dt.DistributedTrainingJob(
        stack,
        "Job",
        source=dt.SourceCode.from_directory(Path(__file__).parent / "queued_code", entry_script="train.py"),
        instances=dt.Instances("ml.c7i.2xlarge", count=1),
        distribution=dt.Processes(process_count_per_node=1),
        network=dt.TrainingNetwork(stack, "Network", vpc=vpc),
        output_bucket=bucket,
        job_name="queued",
        max_runtime=cdk.Duration.hours(1),
    )
    queue = dt.TrainingQueue(
        stack,
        "Queue",
        max_instances=MACHINES,
        shares=[dt.FairShare(name=name, weight=weight) for name, weight in WEIGHTS.items()],
        share_decay=cdk.Duration.days(1),
    )
    for share in WEIGHTS:
        for priority in (1, 9):
            id = f"{share}{priority}"
            queued = dt.QueuedTrainingJob(
                stack, id, job=job, queue=queue, share=share, priority=priority, attempts=2, attempt_rules=RULES
            )
            cdk.CfnOutput(stack, f"Machine{id}", value=queued.state_machine.state_machine_arn)
    cdk.CfnOutput(stack, "Bucket", value=bucket.bucket_name)
    app.synth()
    return folder


@pytest.fixture(scope="module")
def queued(deployed, tmp_path_factory):
    """The stack's outputs; two hundred executions look at their jobs less often."""
    usual, short_waits.longest_seconds = short_waits.longest_seconds, max(0.2, COUNT / 20)
    cdk_cli = CdkCli(synthesize(tmp_path_factory.mktemp("queued") / "cdk.out"), deployed.cdk.environment)
    outputs = cdk_cli.deploy()["Queued"]
    yield outputs
    bucket = boto3.resource("s3").Bucket(outputs["Bucket"])
    bucket.objects.delete()
    cdk_cli.destroy()
    short_waits.longest_seconds = usual
    assert boto3.client("batch").describe_service_environments()["serviceEnvironments"] == []


def set_queue(state):
    batch = boto3.client("batch")
    (environment,) = batch.describe_service_environments()["serviceEnvironments"]
    batch.update_service_environment(serviceEnvironment=environment["serviceEnvironmentArn"], state=state)


def plan():
    """Number of each run -> share, priority and what it does."""
    shares = list(WEIGHTS)
    return {
        number: (shares[number % 2], (1, 9)[number // 2 % 2], PARTICULAR.get(number % 12, "write"))
        for number in range(COUNT)
    }


def service_job_of(service, execution):
    """The one service job of an execution."""
    found = [job for job in service.queues.jobs.values() if run_of(job) == execution]
    assert len(found) <= 1
    return found[0] if found else None


def run_of(job):
    return job.payload["Environment"]["TRAINING_EXECUTION_ARN"]


def test_every_job_is_accounted_for(deployed, queued):
    service = deployed.service
    set_queue("DISABLED")
    started = {}
    for number, (share, priority, does) in plan().items():
        mode = {"leaves": "write", "stopped": "wait"}.get(does, does)
        given = {"hyperparameters": {"number": str(number), "mode": mode}}
        started[number] = executions.start(queued[f"Machine{share}{priority}"], name=f"run-{number}", given=given)
        eventually(lambda number=number: service_job_of(service, started[number]), PATIENCE)
    jobs = {number: service_job_of(service, execution) for number, execution in started.items()}
    batch = boto3.client("batch")
    queue_arn = jobs[0].queue_arn
    eventually(lambda: {job.status for job in jobs.values()} == {"RUNNABLE"}, PATIENCE)
    listed = batch.get_paginator("list_service_jobs").paginate(jobQueue=queue_arn, jobStatus="RUNNABLE")
    assert sum(len(page["jobSummaryList"]) for page in listed) == COUNT

    aborted = [number for number, (_, _, does) in plan().items() if does == "leaves"]
    for number in aborted:
        executions.stop(started[number])
        eventually(lambda number=number: jobs[number].status == "FAILED", PATIENCE)
    set_queue("ENABLED")
    waiting = [number for number, (_, _, does) in plan().items() if does == "stopped"]
    for number in waiting:
        job = jobs[number]
        # each of them holds a machine until it is stopped
        eventually(lambda job=job: job.status == "RUNNING", PATIENCE)
        executions.stop(started[number])
    eventually(lambda: all(job.status in ("SUCCEEDED", "FAILED") for job in jobs.values()), PATIENCE)
    ended = {number: executions.wait(execution) for number, execution in started.items()}

    accounted_for(service, queued, batch, jobs, ended)
    machines_are_kept(service)
    order_is_kept(service, jobs)


def accounted_for(service, queued, batch, jobs, ended):
    expected = {
        "write": ("SUCCEEDED", "", "SUCCEEDED", 1),
        "broken": ("FAILED", "TrainingJobFailed", "FAILED", 1),
        "unlucky": ("FAILED", "TrainingJobFailed", "FAILED", 2),
        "leaves": ("ABORTED", "", "FAILED", 0),
        "stopped": ("ABORTED", "", "FAILED", 1),
    }
    told = {number: batch.describe_service_job(jobId=job.job_id) for number, job in jobs.items()}
    for number, (_, _, does) in plan().items():
        status, error, job_status, attempts = expected[does]
        assert (ended[number].status, ended[number].error) == (status, error), ended[number]
        assert (told[number]["status"], len(told[number]["attempts"])) == (job_status, attempts), told[number]
        assert told[number]["isTerminated"] == (does in ("leaves", "stopped"))
    does = collections.Counter(does for _, _, does in plan().values())
    by_status = collections.Counter(one["status"] for one in told.values())
    assert by_status == {"SUCCEEDED": does["write"], "FAILED": COUNT - does["write"]}
    assert "loss is NaN" in next(ended[number].cause for number, (_, _, one) in plan().items() if one == "broken")

    # no training job that belongs to no run, none twice, and each result once
    attempts = [
        one["serviceResourceId"]["value"].rpartition("/")[2] for job in told.values() for one in job["attempts"]
    ]
    ours = [name for name, job in service.jobs.items() if "TRAINING_EXECUTION_ARN" in job.request.get("Environment", {})
            and name.startswith("AWSBatch")]  # fmt: skip
    assert sorted(attempts) == sorted(ours)
    models = [
        service.jobs[name].description()["ModelArtifacts"]["S3ModelArtifacts"]
        for name in ours
        if service.jobs[name].status == "Completed"
    ]
    numbers = sorted(int(read(queued["Bucket"], model)) for model in models)
    assert numbers == sorted(number for number, (_, _, does) in plan().items() if does == "write")


def read(bucket, uri):
    key = uri.removeprefix(f"s3://{bucket}/")
    body = boto3.client("s3").get_object(Bucket=bucket, Key=key)["Body"].read()
    with tarfile.open(fileobj=io.BytesIO(body)) as archive:
        return archive.extractfile("number").read()


def training_jobs(service):
    """Begin, end and run of each training job of the queue, in the order in which they began."""
    found = []
    for name, job in service.jobs.items():
        if name.startswith("AWSBatch"):
            transitions = job.description()["SecondaryStatusTransitions"]
            run = job.request["Environment"]["TRAINING_EXECUTION_ARN"]
            found.append((transitions[0]["StartTime"], transitions[-1]["StartTime"], run))
    return sorted(found)


def machines_are_kept(service):
    moments = [(begin, 1) for begin, _, _ in training_jobs(service)] + [
        (end, -1) for _, end, _ in training_jobs(service)
    ]
    used = most = 0
    for _, change in sorted(moments):
        used += change
        most = max(most, used)
    assert used == 0
    assert most == MACHINES


def order_is_kept(service, jobs):
    number_of = {run_of(job): number for number, job in jobs.items()}
    begun = [number_of[run] for _, _, run in training_jobs(service)]
    first = list(dict.fromkeys(begun))
    plans = plan()
    for share in WEIGHTS:
        mine = [number for number in first if plans[number][0] == share]
        assert mine == sorted(mine, key=lambda number: (-plans[number][1], number)), json.dumps(begun)
    # while both have jobs that wait, the turn is that of the share that has had less for its weight
    left = collections.Counter(plans[number][0] for number in first)
    used = dict.fromkeys(WEIGHTS, 0)
    seen = set()
    for number in begun:
        share = plans[number][0]
        if min(left.values()) == 0:
            break
        assert used[share] * WEIGHTS[share] == min(used[one] * WEIGHTS[one] for one in WEIGHTS), json.dumps(begun)
        used[share] += 1
        left[share] -= number not in seen
        seen.add(number)
