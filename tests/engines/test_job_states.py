"""The state machine of a job, run with scripted answers in place of SageMaker."""

import re

import pytest
from tests.engines.state_runner import EXECUTION, run_states

from cdk_distributed_training.engines.job_states import JobStates

DAY = 24 * 60 * 60
REQUEST = {
    "RoleArn": "arn:aws:iam::111111111111:role/train",
    "AlgorithmSpecification": {"ContainerEntrypoint": ["sh", "-c", 'exec "$@" $(x) {x} $.y']},
    "ResourceConfig": {"InstanceType": "ml.c7i.xlarge", "InstanceCount": 2},
    "HyperParameters": {"lr": "0.1", "note": 'it\'s "quoted" {x} $.y'},
    "Environment": {"OMP_NUM_THREADS": "1"},
}
CREATED = {"result": {"TrainingJobArn": "arn:aws:sagemaker:us-east-1:111111111111:training-job/x"}}
IN_PROGRESS = {"TrainingJobStatus": "InProgress", "SecondaryStatus": "Training", "TrainingStartTime": 1}
COMPLETED = {
    "TrainingJobStatus": "Completed",
    "SecondaryStatus": "Completed",
    "TrainingStartTime": 1,
    "ModelArtifacts": {"S3ModelArtifacts": "s3://bucket/output/x/output/model.tar.gz"},
}
NO_CAPACITY = {
    "TrainingJobStatus": "Failed",
    "SecondaryStatus": "Failed",
    "FailureReason": "CapacityError: Unable to provision requested ML compute capacity.",
}


def definition(*, longest_run=DAY, poll_interval=30, request=None):
    return JobStates(
        partition="aws",
        job_name="digits",
        request=request or REQUEST,
        poll_interval=poll_interval,
        longest_run=longest_run,
    ).definition()


def run(*, create=(CREATED,), describe, given=None, **options):
    answers = {"createTrainingJob": list(create), "describeTrainingJob": list(describe)}
    return run_states(definition(**options), answers=answers, given=given)


def created(outcome):
    return [arguments for api, arguments in outcome["calls"] if api == "createTrainingJob"]


def test_a_serverless_job_carries_its_execution_as_a_tag():
    tags = [{"Key": "team", "Value": "speech"}]
    request = {"ServerlessJobConfig": {"JobType": "FineTuning"}, "HyperParameters": {"lr": "0.1"}, "Tags": tags}
    given = {"hyperparameters": {"lr": 0.2}}
    (arguments,) = created(run(describe=[{"result": COMPLETED}], request=request, given=given))
    assert arguments == {
        **request,
        "TrainingJobName": "digits-my-run-1-00000001",
        "HyperParameters": {"lr": "0.2"},
        "Tags": [*tags, {"Key": "distributed-training:execution", "Value": EXECUTION["Id"]}],
    }


def test_success():
    outcome = run(describe=[{"result": IN_PROGRESS, "until": 90}, {"result": COMPLETED}])
    assert outcome["status"] == "SUCCEEDED"
    (arguments,) = created(outcome)
    assert arguments == {
        **REQUEST,
        "TrainingJobName": "digits-my-run-1-00000001",
        "Environment": {"OMP_NUM_THREADS": "1", "TRAINING_EXECUTION_ARN": EXECUTION["Id"]},
    }
    assert outcome["calls"][-1] == ["describeTrainingJob", {"TrainingJobName": "digits-my-run-1-00000001"}]
    assert outcome["output"] == {
        "TrainingJobName": "digits-my-run-1-00000001",
        "TrainingJobStatus": "Completed",
        "SecondaryStatus": "Completed",
        "ModelArtifacts": COMPLETED["ModelArtifacts"],
        "Started": True,
    }


def test_overrides_reach_the_request():
    given = {"instance_count": 4, "hyperparameters": {"lr": 1e-7, "new": True}}
    (arguments,) = created(run(describe=[{"result": COMPLETED}], given=given))
    assert arguments["ResourceConfig"] == {"InstanceType": "ml.c7i.xlarge", "InstanceCount": 4}
    assert arguments["HyperParameters"] == {**REQUEST["HyperParameters"], "lr": "1e-7", "new": "true"}


def test_a_request_without_hyperparameters():
    request = {name: value for name, value in REQUEST.items() if name != "HyperParameters"}
    outcome = run(describe=[{"result": COMPLETED}], request=request)
    assert created(outcome)[0]["HyperParameters"] == {}


def test_wrong_input_starts_nothing():
    outcome = run(describe=[], given={"hosts": 3})
    assert outcome["status"] == "FAILED"
    assert outcome["cause"] == "unknown execution input: hosts"
    assert outcome["calls"] == []


@pytest.mark.parametrize(
    ("described", "error", "cause"),
    [
        (
            {"TrainingJobStatus": "Failed", "SecondaryStatus": "Failed", "FailureReason": "AlgorithmError: rank 3"},
            "TrainingJobFailed",
            "AlgorithmError: rank 3",
        ),
        ({"TrainingJobStatus": "Stopped", "SecondaryStatus": "Stopped"}, "TrainingJobStopped", "Stopped, Stopped"),
        (
            {"TrainingJobStatus": "Stopped", "SecondaryStatus": "MaxRuntimeExceeded"},
            "TrainingJobMaxRuntimeExceeded",
            "Stopped, MaxRuntimeExceeded",
        ),
        (
            {"TrainingJobStatus": "Completed", "SecondaryStatus": "MaxRuntimeExceeded"},
            "TrainingJobMaxRuntimeExceeded",
            "Completed, MaxRuntimeExceeded",
        ),
        (
            {"TrainingJobStatus": "Stopped", "SecondaryStatus": "MaxWaitTimeExceeded"},
            "TrainingJobMaxWaitTimeExceeded",
            "Stopped, MaxWaitTimeExceeded",
        ),
    ],
)
def test_other_ends(described, error, cause):
    outcome = run(describe=[{"result": {**described, "TrainingStartTime": 1}}])
    assert outcome["status"] == "FAILED"
    assert outcome["error"] == error
    assert outcome["cause"] == f"digits-my-run-1-00000001: {cause}"
    assert len(created(outcome)) == 1


REFUSALS = [
    ("SageMaker.ResourceLimitExceededException", "The account-level service limit 'ml.p5.48xlarge' is 0 Instances"),
    ("SageMaker.SageMakerException", "Rate exceeded (Service: SageMaker, Status Code: 400)"),
    ("SageMaker.ThrottlingException", None),
]


@pytest.mark.parametrize(("error", "cause"), REFUSALS)
def test_refusals_for_now_are_tried_again_under_a_new_name(error, cause):
    refusal = {"error": error} if cause is None else {"error": error, "cause": cause}
    outcome = run(create=[refusal, refusal, CREATED], describe=[{"result": COMPLETED}])
    assert outcome["status"] == "SUCCEEDED"
    names = [arguments["TrainingJobName"] for arguments in created(outcome)]
    assert names == [f"digits-my-run-1-0000000{number}" for number in (1, 2, 3)]


def test_attempts_have_an_end():
    error, cause = REFUSALS[0]
    outcome = run(create=[{"error": error, "cause": cause}], describe=[])
    assert outcome["error"] == "TrainingJobNotStarted"
    assert outcome["cause"] == f"{error}: {cause} (attempt 6, digits-my-run-1-00000006)"
    assert len(created(outcome)) == 6
    assert outcome["waited"] == 60 * (1 + 2 + 4 + 8 + 15)


@pytest.mark.parametrize("error", ["SageMaker.SageMakerException", "States.TaskFailed", "States.Timeout"])
def test_other_refusals_are_final(error):
    outcome = run(create=[{"error": error, "cause": "AccessDeniedException: no"}], describe=[])
    assert outcome["error"] == "TrainingJobNotStarted"
    assert len(created(outcome)) == 1


def test_a_job_that_found_no_machines_is_tried_again():
    outcome = run(describe=[{"result": NO_CAPACITY}, {"result": COMPLETED}])
    assert outcome["status"] == "SUCCEEDED"
    assert len({arguments["TrainingJobName"] for arguments in created(outcome)}) == 2


def test_a_job_that_never_finds_machines_ends():
    outcome = run(describe=[{"result": NO_CAPACITY}])
    assert outcome["error"] == "TrainingJobNotStarted"
    assert "CapacityError: Unable to provision" in outcome["cause"]
    assert len(created(outcome)) == 6


@pytest.mark.parametrize(
    "described",
    [
        {**NO_CAPACITY, "TrainingStartTime": 1},
        {**NO_CAPACITY, "FailureReason": "ClientError: Data download failed"},
    ],
    ids=["began to train", "another reason"],
)
def test_a_failed_training_is_never_started_again(described):
    outcome = run(describe=[{"result": described}])
    assert outcome["error"] == "TrainingJobFailed"
    assert len(created(outcome)) == 1


def test_errors_of_describe_pass():
    outcome = run(describe=[*[{"error": "SageMaker.SageMakerException", "cause": "503"}] * 9, {"result": COMPLETED}])
    assert outcome["status"] == "SUCCEEDED"


@pytest.mark.parametrize("days", [1, 5, 28])
@pytest.mark.parametrize("poll_interval", [1, 30])
def test_history_has_room_for_the_longest_job(days, poll_interval):
    seconds = days * DAY
    outcome = run(
        describe=[{"result": IN_PROGRESS, "until": seconds}, {"result": COMPLETED}],
        longest_run=seconds,
        poll_interval=poll_interval,
    )
    assert outcome["status"] == "SUCCEEDED"
    assert outcome["events"] < 25_000 * 0.9
    # the end is seen in time: at most a thousandth of the job later
    assert outcome["waited"] - seconds <= max(poll_interval, seconds / 1000)


def test_a_short_job_is_seen_to_end_soon_whatever_its_limit():
    outcome = run(
        describe=[{"result": IN_PROGRESS, "until": 600}, {"result": COMPLETED}], longest_run=28 * DAY, poll_interval=30
    )
    assert outcome["waited"] <= 630


def walk(value):
    yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from walk(item)


def test_nothing_is_null_and_no_variable_lacks_a_name():
    for value in walk(definition()):
        assert value is not None
        if isinstance(value, str) and value.startswith("{%"):
            outside = re.sub(r'"[^"]*"|/[^/]*/', "", value)
            assert not re.search(r"\$(?![A-Za-z])", outside), value


def test_a_job_of_groups_takes_no_number_of_machines():
    groups = [{"InstanceGroupName": "train", "InstanceType": "ml.g5.2xlarge", "InstanceCount": 2}]
    request = {**REQUEST, "ResourceConfig": {"InstanceGroups": groups, "VolumeSizeInGB": 30}}
    outcome = run(describe=[{"result": COMPLETED}], request=request, given={"hyperparameters": {"lr": 1}})
    assert outcome["status"] == "SUCCEEDED"
    assert created(outcome)[0]["ResourceConfig"] == request["ResourceConfig"]
    refused = run(describe=[], request=request, given={"instance_count": 3})
    assert refused["cause"] == "unknown execution input: instance_count"
