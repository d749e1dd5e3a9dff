"""A multi-node parallel job's state machines, run with scripted answers in place of AWS Batch."""

import json

import pytest
from tests.engines.state_runner import EXECUTION, run_states
from tests.request.create_training_job_model import state_machine_problems

from cdk_distributed_training.engines.batch_job_termination import terminate_definition
from cdk_distributed_training.engines.multi_node.multi_node_states import MultiNodeStates

QUEUE = "arn:aws:batch:us-east-1:111111111111:job-queue/queue"
DEFINITION = "arn:aws:batch:us-east-1:111111111111:job-definition/digits:3"
REQUEST = {
    "ResourceConfig": {"InstanceType": "ml.p4d.24xlarge", "InstanceCount": 2},
    "HyperParameters": {"lr": "0.1", "note": 'a "b" {c}'},
}
SUBMITTED = {"result": {"JobId": "id-1", "JobName": "x"}}


def job(status, **more):
    return {"result": {"Jobs": [{"JobId": "id-1", "Status": status, **more}]}}


FAILED = job("FAILED", StatusReason="Essential container in task exited", IsTerminated=False)


def run(*, looks=(), submit=(SUBMITTED,), given=None):
    states = MultiNodeStates(
        partition="aws",
        job_name="digits",
        request=REQUEST,
        job_definition_arn=DEFINITION,
        job_queue_arn=QUEUE,
        poll_interval=30,
        max_instances=8,
    )
    answers = {"submitJob": list(submit), "describeJobs": list(looks)}
    return run_states(states.definition(), answers=answers, given=given)


def calls(outcome, api):
    return [arguments for called, arguments in outcome["calls"] if called == api]


def variables(outcome):
    (arguments,) = calls(outcome, "submitJob")
    (override,) = arguments["NodeOverrides"]["NodePropertyOverrides"]
    assert override["TargetNodes"] == "0:"
    return {one["Name"]: one["Value"] for one in override["ContainerOverrides"]["Environment"]}


@pytest.fixture(scope="module")
def success():
    looks = [{**job("RUNNABLE"), "until": 7200}, job("RUNNING"), job("SUCCEEDED")]
    return run(looks=looks, given={"instance_count": 4, "hyperparameters": {"lr": 0.2, "quick": True}})


def test_success(success):
    assert success["status"] == "SUCCEEDED"
    assert success["output"]["Status"] == "SUCCEEDED"
    assert success["output"]["JobId"] == "id-1"
    assert 7200 <= success["waited"] < 7200 * 1.05


def test_what_is_submitted_is_what_batch_takes(success):
    (arguments,) = calls(success, "submitJob")
    assert state_machine_problems(arguments, "batch", "SubmitJob") == []
    assert (arguments["JobDefinition"], arguments["JobQueue"]) == (DEFINITION, QUEUE)
    assert arguments["NodeOverrides"]["NumNodes"] == 4
    assert arguments["JobName"].startswith("digits-my-run-1-")


def test_every_node_gets_the_runs_own_values(success):
    given = variables(success)
    assert json.loads(given["TRAINING_RUN_HYPERPARAMETERS"]) == {"lr": "0.2", "quick": "true"}
    assert given["TRAINING_JOB_NAME"] == calls(success, "submitJob")[0]["JobName"]
    assert given["TRAINING_EXECUTION_ARN"] == EXECUTION["Id"]


def test_the_jobs_own_values_otherwise():
    outcome = run(looks=[job("SUCCEEDED")])
    assert calls(outcome, "submitJob")[0]["NodeOverrides"]["NumNodes"] == 2
    assert variables(outcome)["TRAINING_RUN_HYPERPARAMETERS"] == "{}"


def test_looks_are_what_batch_takes(success):
    looks = calls(success, "describeJobs")
    assert looks[0] == {"Jobs": ["id-1"]}
    assert state_machine_problems(looks[0], "batch", "DescribeJobs") == []


@pytest.mark.parametrize(
    ("look", "error"),
    [
        (FAILED, "TrainingJobFailed"),
        (job("FAILED", StatusReason="Job attempt duration exceeded timeout"), "TrainingJobMaxRuntimeExceeded"),
        (job("FAILED", StatusReason="enough", IsTerminated=True), "TrainingJobStopped"),
        (job("FAILED"), "TrainingJobFailed"),
    ],
)
def test_ends(look, error):
    outcome = run(looks=[job("RUNNING"), look])
    assert (outcome["status"], outcome["error"]) == ("FAILED", error)
    assert outcome["cause"].startswith("digits-my-run-1-")
    assert look["result"]["Jobs"][0].get("StatusReason", "") in outcome["cause"]


def test_a_job_that_batch_does_not_take():
    outcome = run(submit=[{"error": "Batch.BatchException", "cause": "AccessDenied"}])
    assert (outcome["status"], outcome["error"]) == ("FAILED", "TrainingJobNotStarted")
    assert outcome["cause"].startswith("Batch.BatchException: AccessDenied (digits-my-run-1-")
    assert len(calls(outcome, "submitJob")) == 1


THROTTLED = {
    "error": "Batch.BatchException",
    "cause": "Too Many Requests (Service: Batch, Status Code: 429, Throttling)",
}


def test_what_is_throttled_comes_again():
    outcome = run(submit=[THROTTLED, THROTTLED, SUBMITTED], looks=[job("SUCCEEDED")])
    assert outcome["status"] == "SUCCEEDED"
    assert len(calls(outcome, "submitJob")) == 3


def test_but_not_for_ever():
    outcome = run(submit=[THROTTLED] * 20)
    assert (outcome["status"], outcome["error"]) == ("FAILED", "TrainingJobNotStarted")
    assert len(calls(outcome, "submitJob")) == 8
    assert outcome["waited"] == sum(2**number for number in range(1, 8))


def test_more_nodes_than_may_run():
    outcome = run(given={"instance_count": 9})
    assert outcome["error"] == "TrainingJobNotStarted"
    assert outcome["cause"].startswith("instance_count 9 is more than the 8 machines that may run")
    assert calls(outcome, "submitJob") == []


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"count": 3}, "unknown execution input: count"),
        ({"hyperparameters": "lr"}, "hyperparameters must be an object, got string"),
        ({"hyperparameters": {"lr": [1]}}, "hyperparameters.lr must be a string, number or boolean, got array"),
        ({"instance_count": 0}, "instance_count must be a whole number >= 1, got 0"),
    ],
)
def test_wrong_input_starts_nothing(given, words):
    outcome = run(given=given)
    assert outcome["status"] == "FAILED"
    assert words in outcome["cause"]
    assert calls(outcome, "submitJob") == []


def stop(*, listed):
    return run_states(
        terminate_definition(kind="job", partition="aws", job_name="digits", job_queue_arn=QUEUE),
        answers={"listJobs": list(listed), "terminateJob": [{"result": {}}] * 4},
        given={"execution_arn": EXECUTION["Id"], "execution_name": EXECUTION["Name"]},
    )


def summaries(*jobs):
    return {"result": {"JobSummaryList": [{"JobId": job_id, "Status": status} for job_id, status in jobs]}}


def test_an_ended_executions_job_is_terminated(success):
    outcome = stop(listed=[summaries(("id-1", "RUNNING"), ("id-0", "FAILED")), summaries(("id-1", "FAILED"))])
    assert outcome["status"] == "SUCCEEDED"
    (submitted,) = calls(success, "submitJob")
    searches = calls(outcome, "listJobs")
    assert searches == [{"JobQueue": QUEUE, "Filters": [{"Name": "JOB_NAME", "Values": [submitted["JobName"]]}]}] * 2
    assert state_machine_problems(searches[0], "batch", "ListJobs") == []
    (ended,) = calls(outcome, "terminateJob")
    assert ended == {"JobId": "id-1", "Reason": f"The execution has ended: {EXECUTION['Id']}"}
    assert state_machine_problems(ended, "batch", "TerminateJob") == []


def test_a_job_that_is_listed_late_is_terminated():
    outcome = stop(listed=[summaries(), summaries(("id-1", "RUNNABLE"))])
    assert len(calls(outcome, "terminateJob")) == 1
