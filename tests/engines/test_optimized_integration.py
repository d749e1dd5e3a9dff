"""Step Functions' own integration: which requests it takes, and that runs end as with the API itself."""

import pytest
from tests.engines.state_runner import run_states
from tests.engines.test_definitions_lint import lint
from tests.request.create_training_job_model import input_shape
from tests.request.test_request_members import model_leaves

from cdk_distributed_training.checks.findings import ConfigurationError
from cdk_distributed_training.checks.rules.state_machine import integration, optimized_members
from cdk_distributed_training.data.tables import step_functions_members
from cdk_distributed_training.engines.integration import OptimizedCall, SdkCall, start_call
from cdk_distributed_training.engines.job_states import JobStates

JOBS = "arn:aws:sagemaker:us-east-1:111111111111:training-job/digits-*"
RULE = "arn:aws:events:us-east-1:111111111111:rule/StepFunctionsGetEventsForSageMakerTrainingJobsRule"
CREATE = "createTrainingJob.sync"
REQUEST = {
    "RoleArn": "arn:aws:iam::111111111111:role/train",
    "AlgorithmSpecification": {"TrainingImage": "image", "TrainingInputMode": "File"},
    "ResourceConfig": {"InstanceType": "ml.c7i.xlarge", "InstanceCount": 2},
    "EnableInterContainerTrafficEncryption": False,
    "HyperParameters": {"lr": "0.1"},
}
COMPLETED = {"TrainingJobStatus": "Completed", "SecondaryStatus": "Completed", "TrainingStartTime": 1}
ENDED_BADLY = {"error": "SageMaker.AlgorithmException", "cause": '{"TrainingJobStatus":"Failed","Truncated'}
NOT_THERE = {"error": "SageMaker.SageMakerException", "cause": "Requested resource not found."}


def definition(request=None):
    states = JobStates(
        partition="aws",
        job_name="digits",
        request=request or REQUEST,
        poll_interval=30,
        longest_run=86400,
        integration="optimized",
    )
    return states.definition()


def run(*, create, describe, given=None):
    return run_states(definition(), answers={CREATE: list(create), "describeTrainingJob": list(describe)}, given=given)


def test_success_looks_once():
    outcome = run(create=[{"result": COMPLETED}], describe=[{"result": COMPLETED}], given={"instance_count": 3})
    assert outcome["status"] == "SUCCEEDED"
    (created, described) = outcome["calls"]
    assert created[1]["ResourceConfig"]["InstanceCount"] == 3
    assert "EnableInterContainerTrafficEncryption" not in created[1]
    assert described == ["describeTrainingJob", {"TrainingJobName": "digits-my-run-1-00000001"}]
    assert outcome["waited"] == 0


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
    ],
)
def test_a_bad_end_has_our_error_and_cause(described, error, cause):
    outcome = run(create=[ENDED_BADLY], describe=[{"result": {**described, "TrainingStartTime": 1}}])
    assert (outcome["status"], outcome["error"]) == ("FAILED", error)
    assert outcome["cause"] == f"digits-my-run-1-00000001: {cause}"
    assert [api for api, _ in outcome["calls"]].count(CREATE) == 1


def test_refusals_for_now_are_tried_again():
    refusal = {"error": "SageMaker.ResourceLimitExceededException", "cause": "limit"}
    outcome = run(create=[refusal, {"result": COMPLETED}], describe=[*[NOT_THERE] * 4, {"result": COMPLETED}])
    assert outcome["status"] == "SUCCEEDED"
    names = [arguments["TrainingJobName"] for api, arguments in outcome["calls"] if api == CREATE]
    assert names == ["digits-my-run-1-00000001", "digits-my-run-1-00000002"]


def test_other_refusals_are_final_and_say_why():
    outcome = run(create=[{"error": "SageMaker.SageMakerException", "cause": "not authorized"}], describe=[NOT_THERE])
    assert outcome["error"] == "TrainingJobNotStarted"
    assert outcome["cause"].startswith("SageMaker.SageMakerException: not authorized")


def test_a_job_that_found_no_machines_is_tried_again():
    none = {"TrainingJobStatus": "Failed", "SecondaryStatus": "Failed", "FailureReason": "CapacityError: none"}
    outcome = run(create=[ENDED_BADLY, {"result": COMPLETED}], describe=[{"result": none}, {"result": COMPLETED}])
    assert outcome["status"] == "SUCCEEDED"


def test_a_job_that_runs_on_is_waited_for():
    running = {"TrainingJobStatus": "InProgress", "SecondaryStatus": "Training", "TrainingStartTime": 1}
    outcome = run(create=[ENDED_BADLY], describe=[{"result": running, "until": 90}, {"result": COMPLETED}])
    assert outcome["status"] == "SUCCEEDED"
    assert outcome["waited"] >= 90


def test_the_definition_passes_the_linter(tmp_path):
    done = lint(definition(), tmp_path)
    assert (done.returncode, done.stdout) == (0, "")


def test_members_with_evidence_are_members():
    listed = {member.split(".")[0] for member in step_functions_members()}
    assert listed <= set(input_shape().members)
    leaves = set(model_leaves(input_shape()))
    maps = {"HyperParameters", "Environment"}
    assert set(step_functions_members()) <= leaves | maps


@pytest.mark.parametrize(
    ("member", "named"),
    [
        ({"RetryStrategy": {"MaximumRetryAttempts": 3}}, "RetryStrategy.MaximumRetryAttempts"),
        ({"AlgorithmSpecification": {"ContainerEntrypoint": ["sh"]}}, "AlgorithmSpecification.ContainerEntrypoint"),
        (
            {"InputDataConfig": [{"DataSource": {"FileSystemDataSource": {"FileSystemId": "fs-1"}}}]},
            "InputDataConfig.DataSource.FileSystemDataSource.FileSystemId",
        ),
        ({"StoppingCondition": {"MaxPendingTimeInSeconds": 1800}}, "StoppingCondition.MaxPendingTimeInSeconds"),
        ({"ResourceConfig": {"KeepAlivePeriodInSeconds": 60}}, "ResourceConfig.KeepAlivePeriodInSeconds"),
    ],
)
def test_other_members_are_refused_by_name(member, named):
    (finding,) = OptimizedCall().findings({**REQUEST, **member})
    assert finding.rule == "DT704"
    assert named in finding.got
    assert list(SdkCall().findings({**REQUEST, **member})) == []


def test_good_and_token_requests_pass():
    tokens = {
        "Tags": ["#{Token[TOKEN.1]}"],
        "OutputDataConfig": {"S3OutputPath": "s3://${Token[TOKEN.2]}/output"},
        "Environment": {"A": "1"},
    }
    assert list(optimized_members({**OptimizedCall().sent(REQUEST), **tokens}, step_functions_members())) == []
    assert list(OptimizedCall().findings(REQUEST)) == []


def test_there_are_two_ways():
    assert [finding.rule for finding in integration("sync")] == ["DT705"]
    assert list(integration("optimized")) == list(integration("sdk")) == []
    with pytest.raises(ConfigurationError, match="DT705"):
        start_call("sync")


def test_permissions():
    actions = {tuple(names): arn for names, arn in OptimizedCall().actions(jobs=JOBS, managed_rule=RULE)}
    assert actions[("events:DescribeRule", "events:PutRule", "events:PutTargets")] == RULE
    assert actions[("sagemaker:ListTags",)] == "*"
    assert {arn for names, arn in actions.items() if "sagemaker:StopTrainingJob" in names} == {JOBS}
