"""A queued job's state machines, run with scripted answers in place of AWS Batch."""

import json

import pytest
from tests.engines.state_runner import EXECUTION, run_states
from tests.request.create_training_job_model import problems, state_machine_problems

from cdk_distributed_training.checks.rules.state_machine import EXECUTION_TAG
from cdk_distributed_training.engines.batch.queued_states import QueuedStates
from cdk_distributed_training.engines.batch_job_termination import terminate_definition

YEAR = 365 * 24 * 60 * 60
REQUEST = {
    "RoleArn": "arn:aws:iam::111111111111:role/train",
    "AlgorithmSpecification": {
        "TrainingImage": "image",
        "TrainingInputMode": "File",
        "ContainerArguments": ["torchrun", "--", 'a "b" {c}'],
    },
    "OutputDataConfig": {"S3OutputPath": "s3://bucket/output"},
    "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
    "ResourceConfig": {"InstanceType": "ml.p4d.24xlarge", "InstanceCount": 2, "VolumeSizeInGB": 30},
    "HyperParameters": {"lr": "0.1"},
    "Environment": {"OMP_NUM_THREADS": "1"},
    "Tags": [{"Key": "team", "Value": "vision"}],
}
QUEUE = "arn:aws:batch:us-east-1:111111111111:job-queue/queue"
SUBMISSION = {
    "JobQueue": QUEUE,
    "ShareIdentifier": "vision",
    "RetryStrategy": {"Attempts": 3, "EvaluateOnExit": [{"Action": "RETRY", "OnStatusReason": "*Internal*"}]},
    "SchedulingPriority": 10,
    "TimeoutConfig": {"AttemptDurationSeconds": 86400},
}
SUBMITTED = {"result": {"JobId": "id-1", "JobName": "x"}}
ATTEMPT = {
    "LatestAttempt": {
        "ServiceResourceId": {
            "Name": "TrainingJobArn",
            "Value": "arn:aws:sagemaker:us-east-1:111111111111:training-job/awsbatchdigits",
        }
    }
}
WAITING = {"result": {"JobId": "id-1", "Status": "RUNNABLE"}}
SUCCEEDED = {"result": {"JobId": "id-1", "Status": "SUCCEEDED", **ATTEMPT}}
FAILED = {
    "result": {"JobId": "id-1", "Status": "FAILED", "StatusReason": "Received status from SageMaker: x", **ATTEMPT}
}
COMPLETED = {
    "result": {
        "TrainingJobName": "awsbatchdigits",
        "TrainingJobStatus": "Completed",
        "SecondaryStatus": "Completed",
        "ModelArtifacts": {"S3ModelArtifacts": "s3://bucket/output/x/output/model.tar.gz"},
    }
}
RANK_FAILED = {
    "result": {
        "TrainingJobName": "awsbatchdigits",
        "TrainingJobStatus": "Failed",
        "SecondaryStatus": "Failed",
        "FailureReason": "AlgorithmError: rank 3 failed",
    }
}
DENIED = {"error": "SageMaker.SageMakerException", "cause": "AccessDeniedException"}
# the name of the service job: the run's name and the first digits of the execution's ARN's hash
NAME = "digits-my-run-1-"


def definition(request=REQUEST, *, max_instances=8):
    return QueuedStates(
        partition="aws",
        job_name="digits",
        request=request,
        submission=SUBMISSION,
        poll_interval=30,
        max_instances=max_instances,
    ).definition()


def run(*, looks, describe=(COMPLETED,), submit=(SUBMITTED,), given=None, **options):
    return run_states(
        definition(**options),
        answers={
            "submitServiceJob": list(submit),
            "describeServiceJob": list(looks),
            "describeTrainingJob": list(describe),
        },
        given=given,
    )


def calls(outcome, api):
    return [arguments for called, arguments in outcome["calls"] if called == api]


@pytest.fixture(scope="module")
def success():
    return run(
        looks=[{**WAITING, "until": 7200}, SUCCEEDED], given={"instance_count": 4, "hyperparameters": {"lr": 0.2}}
    )


def test_a_job_without_machines_keeps_its_tags_and_gets_the_mark():
    serverless = {
        "RoleArn": REQUEST["RoleArn"],
        "ServerlessJobConfig": {
            "BaseModelArn": "arn:aws:sagemaker:us-east-1:aws:hub-content/x",
            "JobType": "FineTuning",
        },
        "OutputDataConfig": REQUEST["OutputDataConfig"],
        "StoppingCondition": REQUEST["StoppingCondition"],
        "Tags": REQUEST["Tags"],
    }
    outcome = run(looks=[SUCCEEDED], request=serverless)
    assert outcome["status"] == "SUCCEEDED", outcome["cause"]
    payload = json.loads(calls(outcome, "submitServiceJob")[0]["ServiceRequestPayload"])
    assert payload["Tags"][0] == REQUEST["Tags"][0]
    assert [tag["Key"] for tag in payload["Tags"][1:]] == [EXECUTION_TAG]
    assert "Environment" not in payload


def test_success(success):
    assert success["status"] == "SUCCEEDED"
    assert success["output"]["TrainingJobStatus"] == "Completed"
    assert success["output"]["ModelArtifacts"] == COMPLETED["result"]["ModelArtifacts"]
    assert "FailureReason" not in success["output"]
    assert 7200 <= success["waited"] < 7200 * 1.05


def test_what_is_submitted_is_what_batch_takes(success):
    (arguments,) = calls(success, "submitServiceJob")
    assert state_machine_problems(arguments, "batch", "SubmitServiceJob") == []
    assert {name: arguments[name] for name in SUBMISSION} == SUBMISSION
    assert arguments["JobName"].startswith(NAME)
    assert len(arguments["ClientToken"]) == 64


def test_the_payload_is_what_sagemaker_takes(success):
    (arguments,) = calls(success, "submitServiceJob")
    payload = json.loads(arguments["ServiceRequestPayload"])
    assert problems(payload) == []
    assert payload == {
        **REQUEST,
        "TrainingJobName": arguments["JobName"],
        "ResourceConfig": {**REQUEST["ResourceConfig"], "InstanceCount": 4},
        "HyperParameters": {"lr": "0.2"},
        "Environment": {"OMP_NUM_THREADS": "1", "TRAINING_EXECUTION_ARN": EXECUTION["Id"]},
    }


def test_looks_are_what_the_services_take(success):
    assert state_machine_problems(calls(success, "describeServiceJob")[0], "batch", "DescribeServiceJob") == []
    (described,) = calls(success, "describeTrainingJob")
    assert described == {"TrainingJobName": "awsbatchdigits"}


def test_sagemakers_reason_is_told():
    outcome = run(looks=[FAILED], describe=[RANK_FAILED])
    assert (outcome["status"], outcome["error"]) == ("FAILED", "TrainingJobFailed")
    assert outcome["cause"] == "awsbatchdigits: AlgorithmError: rank 3 failed"


@pytest.mark.parametrize(
    ("look", "status", "error"),
    [
        (SUCCEEDED, "SUCCEEDED", None),
        (FAILED, "FAILED", "TrainingJobFailed"),
        ({"result": {**FAILED["result"], "IsTerminated": True}}, "FAILED", "TrainingJobStopped"),
    ],
)
def test_batchs_words_stand_in_for_sagemakers(look, status, error):
    outcome = run(looks=[look], describe=[DENIED])
    assert (outcome["status"], outcome.get("error")) == (status, error)


def test_the_time_limit_is_no_success():
    ended = {"result": {**COMPLETED["result"], "SecondaryStatus": "MaxRuntimeExceeded"}}
    outcome = run(looks=[SUCCEEDED], describe=[ended])
    assert (outcome["status"], outcome["error"]) == ("FAILED", "TrainingJobMaxRuntimeExceeded")


@pytest.mark.parametrize(
    ("terminated", "error"), [({}, "TrainingJobNotStarted"), ({"IsTerminated": True}, "TrainingJobStopped")]
)
def test_a_job_that_never_left_the_queue(terminated, error):
    outcome = run(looks=[{"result": {"Status": "FAILED", "StatusReason": "No capacity", **terminated}}])
    assert (outcome["status"], outcome["error"]) == ("FAILED", error)
    assert "No capacity" in outcome["cause"]


def test_more_machines_than_the_queue_has():
    outcome = run(looks=[SUCCEEDED], given={"instance_count": 9})
    assert (outcome["status"], outcome["error"]) == ("FAILED", "TrainingJobNotStarted")
    assert outcome["cause"].startswith("instance_count 9 is more than the 8 machines of the queue")
    assert outcome["calls"] == []


def test_wrong_input_is_refused_before_anything():
    outcome = run(looks=[SUCCEEDED], given={"instances": 2})
    assert outcome["status"] == "FAILED"
    assert "unknown execution input: instances" in outcome["cause"]
    assert outcome["calls"] == []


def test_groups_of_machines_have_no_one_number():
    groups = [{"InstanceGroupName": "a", "InstanceType": "ml.c7i.xlarge", "InstanceCount": 1}]
    request = {**REQUEST, "ResourceConfig": {"InstanceGroups": groups, "VolumeSizeInGB": 30}}
    outcome = run(looks=[SUCCEEDED], request=request)
    (arguments,) = calls(outcome, "submitServiceJob")
    assert json.loads(arguments["ServiceRequestPayload"])["ResourceConfig"] == request["ResourceConfig"]
    assert run(looks=[SUCCEEDED], request=request, given={"instance_count": 2})["status"] == "FAILED"


def test_a_refusal_is_told():
    outcome = run(looks=[SUCCEEDED], submit=[{"error": "Batch.ClientException", "cause": "no such queue"}])
    assert (outcome["status"], outcome["error"]) == ("FAILED", "TrainingJobNotStarted")
    assert outcome["cause"].startswith("Batch.ClientException: no such queue (digits-my-run-1-")


def test_a_year_in_the_queue_fits_into_the_history():
    outcome = run(looks=[{**WAITING, "until": YEAR - 1}, SUCCEEDED])
    assert outcome["status"] == "SUCCEEDED"
    assert outcome["events"] < 25000


def stop(*, listed):
    return run_states(
        terminate_definition(kind="service job", partition="aws", job_name="digits", job_queue_arn=QUEUE),
        answers={"listServiceJobs": list(listed), "terminateServiceJob": [{"result": {}}]},
        given={"execution_arn": EXECUTION["Id"], "execution_name": EXECUTION["Name"]},
    )


def summaries(*pairs):
    return {"result": {"JobSummaryList": [{"JobId": job_id, "Status": status} for job_id, status in pairs]}}


def test_the_job_of_an_execution_is_terminated(success):
    outcome = stop(listed=[summaries(("id-1", "RUNNING")), summaries(("id-1", "FAILED"))])
    assert outcome["status"] == "SUCCEEDED"
    (submitted,) = calls(success, "submitServiceJob")
    searches = calls(outcome, "listServiceJobs")
    assert searches == [{"JobQueue": QUEUE, "Filters": [{"Name": "JOB_NAME", "Values": [submitted["JobName"]]}]}] * 2
    assert state_machine_problems(searches[0], "batch", "ListServiceJobs") == []
    (ended,) = calls(outcome, "terminateServiceJob")
    assert ended == {"JobId": "id-1", "Reason": f"The execution has ended: {EXECUTION['Id']}"}
    assert state_machine_problems(ended, "batch", "TerminateServiceJob") == []


def test_a_job_that_is_listed_late_is_terminated():
    outcome = stop(listed=[summaries(), summaries(("id-1", "RUNNABLE"))])
    assert len(calls(outcome, "terminateServiceJob")) == 1


def test_ended_jobs_are_left_alone():
    outcome = stop(listed=[summaries(("id-1", "SUCCEEDED"))])
    assert (outcome["status"], calls(outcome, "terminateServiceJob")) == ("SUCCEEDED", [])


def test_two_hundred_runs_are_each_accounted_for():
    never = {"result": {"Status": "FAILED", "StatusReason": "No capacity"}}
    kinds = [
        (SUCCEEDED, COMPLETED, ("SUCCEEDED", None)),
        (FAILED, RANK_FAILED, ("FAILED", "TrainingJobFailed")),
        ({"result": {**FAILED["result"], "IsTerminated": True}}, DENIED, ("FAILED", "TrainingJobStopped")),
        (never, COMPLETED, ("FAILED", "TrainingJobNotStarted")),
    ]
    machine, names = definition(), set()
    for number in range(200):
        look, described, expected = kinds[number % len(kinds)]
        # names of executions that differ only where a job's name is cut off
        name = f"{'nightly-run-of-the-whole-corpus-' * 2}{number}"
        outcome = run_states(
            machine,
            answers={
                "submitServiceJob": [SUBMITTED],
                "describeServiceJob": [WAITING, look],
                "describeTrainingJob": [described],
            },
            execution={"Id": f"arn:aws:states:us-east-1:111111111111:execution:Job:{name}", "Name": name},
        )
        assert (outcome["status"], outcome.get("error")) == expected
        (submitted,) = calls(outcome, "submitServiceJob")
        assert submitted["JobName"].startswith("digits-nightly-run-of-the-whole-corpus")
        names.add(submitted["JobName"])
    assert len(names) == 200
    assert all(len(name) <= 63 for name in names)
