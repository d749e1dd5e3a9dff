"""A tuning job's state machines, run with scripted answers in place of SageMaker."""

import json

import pytest
from tests.engines.state_runner import EXECUTION, run_states
from tests.request.create_training_job_model import input_shape, problems

from cdk_distributed_training.checks.findings import Severity
from cdk_distributed_training.engines.tuning.ranges import (
    CategoricalRange,
    ContinuousRange,
    IntegerRange,
    rendered_ranges,
)
from cdk_distributed_training.engines.tuning.stop_states import stop_tuning_definition
from cdk_distributed_training.engines.tuning.trial_definition import (
    ALGORITHM_MEMBERS,
    MEMBERS,
    request_findings,
)
from cdk_distributed_training.engines.tuning.tuning_states import TuningStates

REQUEST = {
    "RoleArn": "arn:aws:iam::111111111111:role/train",
    "AlgorithmSpecification": {
        "TrainingImage": "image",
        "TrainingInputMode": "File",
        "ContainerArguments": ["torchrun", "--", "train.py"],
        "MetricDefinitions": [{"Name": "loss", "Regex": "loss=(.*)"}],
    },
    "InputDataConfig": [
        {
            "ChannelName": "code",
            "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://bucket/code.zip"}},
        }
    ],
    "OutputDataConfig": {"S3OutputPath": "s3://bucket/output"},
    "StoppingCondition": {"MaxRuntimeInSeconds": 3600, "MaxWaitTimeInSeconds": 7200},
    "EnableManagedSpotTraining": True,
    "CheckpointConfig": {"S3Uri": "s3://bucket/checkpoints/digits", "LocalPath": "/opt/ml/checkpoints"},
    "ResourceConfig": {"InstanceType": "ml.p4d.24xlarge", "InstanceCount": 2, "VolumeSizeInGB": 30},
    "VpcConfig": {"Subnets": ["subnet-1"], "SecurityGroupIds": ["sg-1"]},
    "HyperParameters": {"lr": "0.1", "epochs": "3"},
    "Environment": {"OMP_NUM_THREADS": "1"},
    "Tags": [{"Key": "team", "Value": "vision"}],
}
RANGES = {
    "lr": ContinuousRange(1e-5, 1e-2, scaling="Logarithmic"),
    "layers": IntegerRange(2, 8),
    "optimizer": CategoricalRange(["adam", 1, True]),
}
CONFIG = {
    "Strategy": "Bayesian",
    "HyperParameterTuningJobObjective": {"Type": "Minimize", "MetricName": "loss"},
    "ResourceLimits": {"MaxNumberOfTrainingJobs": 20, "MaxParallelTrainingJobs": 2},
    "ParameterRanges": rendered_ranges(RANGES),
}
CREATED = {"result": {"HyperParameterTuningJobArn": "arn"}}
BEST = {"TrainingJobName": "digits-0123abcd-007", "TunedHyperParameters": {"lr": "0.01"}}


def look(status, **more):
    return {"result": {"HyperParameterTuningJobStatus": status, **more}}


def run(*, looks, create=(CREATED,), given=None):
    definition = TuningStates(
        partition="aws",
        prefix="digits",
        request=REQUEST,
        config=CONFIG,
        call={"Tags": REQUEST["Tags"]},
        tuned=list(RANGES),
        poll_interval=60,
        as_json=json.dumps,
    ).definition()
    answers = {"createHyperParameterTuningJob": list(create), "describeHyperParameterTuningJob": list(looks)}
    return run_states(definition, answers=answers, given=given)


def calls(outcome, api):
    return [arguments for called, arguments in outcome["calls"] if called == api]


@pytest.fixture(scope="module")
def success():
    return run(
        looks=[{**look("InProgress"), "until": 3600}, look("Completed", BestTrainingJob=BEST)],
        given={"instance_count": 4, "hyperparameters": {"epochs": 5, "seed": 1}},
    )


def test_success(success):
    assert success["status"] == "SUCCEEDED"
    assert success["output"]["BestTrainingJob"] == BEST


def test_the_call_is_what_sagemaker_takes(success):
    (arguments,) = calls(success, "createHyperParameterTuningJob")
    assert problems(arguments, "sagemaker", "CreateHyperParameterTuningJob") == []
    assert arguments["Tags"] == REQUEST["Tags"]
    assert arguments["HyperParameterTuningJobName"].startswith("digits-")


def test_every_trial_is_the_job_with_its_launcher(success):
    (arguments,) = calls(success, "createHyperParameterTuningJob")
    trial = arguments["TrainingJobDefinition"]
    assert json.loads(trial["Environment"]["TRAINING_LAUNCHER_ARGUMENTS"]) == ["torchrun", "--", "train.py"]
    assert trial["Environment"]["TRAINING_EXECUTION_ARN"] == EXECUTION["Id"]
    assert trial["StaticHyperParameters"] == {"epochs": "5", "seed": "1"}
    assert trial["ResourceConfig"] == {**REQUEST["ResourceConfig"], "InstanceCount": 4}
    same = (
        "RoleArn",
        "InputDataConfig",
        "OutputDataConfig",
        "StoppingCondition",
        "EnableManagedSpotTraining",
        "VpcConfig",
    )
    assert {name: trial[name] for name in same} == {name: REQUEST[name] for name in same}
    assert set(trial["AlgorithmSpecification"]) == {"TrainingImage", "TrainingInputMode", "MetricDefinitions"}


def test_each_tuning_job_has_checkpoints_of_its_own(success):
    (arguments,) = calls(success, "createHyperParameterTuningJob")
    folder = f"s3://bucket/checkpoints/digits/{arguments['HyperParameterTuningJobName']}"
    assert arguments["TrainingJobDefinition"]["CheckpointConfig"] == {
        "S3Uri": folder,
        "LocalPath": "/opt/ml/checkpoints",
    }


def test_ranges():
    assert CONFIG["ParameterRanges"] == {
        "ContinuousParameterRanges": [
            {"Name": "lr", "MinValue": "1e-05", "MaxValue": "0.01", "ScalingType": "Logarithmic"}
        ],
        "IntegerParameterRanges": [{"Name": "layers", "MinValue": "2", "MaxValue": "8", "ScalingType": "Auto"}],
        "CategoricalParameterRanges": [{"Name": "optimizer", "Values": ["adam", "1", "true"]}],
    }


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        (ContinuousRange(1, 0), "from 1 to 0"),
        (ContinuousRange(0, 1, scaling="Logarithmic"), "0 with Logarithmic"),
        (ContinuousRange(0, 1, scaling="ReverseLogarithmic"), "0 to 1"),
        (IntegerRange(1, 2.5), "2.5"),
        (IntegerRange(0, 1, scaling="ReverseLogarithmic"), "ReverseLogarithmic"),
        (CategoricalRange([]), "0 values"),
        (CategoricalRange(list(range(31))), "31 values"),
    ],
)
def test_ranges_without_values(chosen, said):
    assert any(said in str(finding) for finding in chosen.findings("lr"))


@pytest.mark.parametrize("chosen", RANGES.values())
def test_good_ranges(chosen):
    assert list(chosen.findings("lr")) == []


def test_a_tuned_hyperparameter_cannot_be_set():
    outcome = run(looks=[look("Completed")], given={"hyperparameters": {"lr": 1, "layers": 2, "epochs": 1}})
    assert (outcome["status"], outcome["error"]) == ("FAILED", "TuningJobNotStarted")
    assert outcome["cause"].endswith("lr, layers")
    assert outcome["calls"] == []


@pytest.mark.parametrize("status", ["Failed", "Stopped", "Deleting"])
def test_a_bad_end(status):
    outcome = run(looks=[look("Stopping"), look(status, FailureReason="All training jobs failed")])
    assert (outcome["status"], outcome["error"]) == ("FAILED", f"TuningJob{status}")
    assert outcome["cause"].endswith(": All training jobs failed")


def test_quota_is_waited_for():
    refused = {"error": "SageMaker.ResourceLimitExceededException", "cause": "limit of 2 tuning jobs"}
    outcome = run(create=[refused, refused, CREATED], looks=[look("Completed")])
    assert outcome["status"] == "SUCCEEDED"
    assert len({call["HyperParameterTuningJobName"] for call in calls(outcome, "createHyperParameterTuningJob")}) == 1
    outcome = run(create=[refused], looks=[look("Completed")])
    assert (outcome["error"], len(calls(outcome, "createHyperParameterTuningJob"))) == ("TuningJobNotStarted", 6)


def test_a_refusal_is_told():
    outcome = run(create=[{"error": "SageMaker.SageMakerException", "cause": "ValidationException"}], looks=[])
    assert (outcome["status"], outcome["error"]) == ("FAILED", "TuningJobNotStarted")
    assert "ValidationException" in outcome["cause"]


def stop(*, looks, stopped=({"result": {}},)):
    return run_states(
        stop_tuning_definition(partition="aws", prefix="digits"),
        answers={"describeHyperParameterTuningJob": list(looks), "stopHyperParameterTuningJob": list(stopped)},
        given={"execution_arn": EXECUTION["Id"], "execution_name": EXECUTION["Name"]},
    )


MISSING = {"error": "SageMaker.ResourceNotFoundException", "cause": "Amazon SageMaker can't find a tuning job"}


def test_the_executions_tuning_job_is_stopped(success):
    outcome = stop(looks=[look("InProgress")])
    assert outcome["status"] == "SUCCEEDED"
    (created,) = calls(success, "createHyperParameterTuningJob")
    (stopped,) = calls(outcome, "stopHyperParameterTuningJob")
    assert stopped == {"HyperParameterTuningJobName": created["HyperParameterTuningJobName"]}
    assert problems(stopped, "sagemaker", "StopHyperParameterTuningJob") == []


def test_a_tuning_job_that_comes_late_is_stopped():
    assert len(calls(stop(looks=[MISSING, look("InProgress")]), "stopHyperParameterTuningJob")) == 1


@pytest.mark.parametrize("looks", [[MISSING], [look("Completed")]])
def test_nothing_to_stop(looks):
    outcome = stop(looks=looks)
    assert (outcome["status"], calls(outcome, "stopHyperParameterTuningJob")) == ("SUCCEEDED", [])


def test_a_refusal_is_no_end_of_the_job():
    refused = [{"error": "SageMaker.SageMakerException", "cause": "AccessDeniedException"}]
    assert stop(looks=[look("InProgress")], stopped=refused)["error"] == "TuningJobNotStopped"
    assert stop(looks=[look("InProgress"), look("Completed")], stopped=refused)["status"] == "SUCCEEDED"
    assert stop(looks=refused)["error"] == "TuningJobNotStopped"


def test_members_are_the_models():
    shape = input_shape("sagemaker", "CreateHyperParameterTuningJob").members["TrainingJobDefinition"]
    own = {"DefinitionName", "TuningObjective", "HyperParameterRanges", "HyperParameterTuningResourceConfig"}
    renamed = {"StaticHyperParameters"}
    assert set(MEMBERS) - {"HyperParameters", "Tags"} == set(shape.members) - own - renamed
    assert set(ALGORITHM_MEMBERS) == set(shape.members["AlgorithmSpecification"].members)


def test_what_no_trial_can_have_is_refused():
    algorithm = {**REQUEST["AlgorithmSpecification"], "ContainerEntrypoint": ["sh"], "TrainingImageConfig": {}}
    request = {**REQUEST, "AlgorithmSpecification": algorithm, "ProfilerConfig": {}, "ExperimentConfig": {}}
    errors = [finding for finding in request_findings(request, "accuracy") if finding.severity is Severity.ERROR]
    assert [(finding.rule, finding.got.split(" ")[0]) for finding in errors] == [
        ("DT720", "AlgorithmSpecification.TrainingImageConfig"),
        ("DT720", "ExperimentConfig"),
        ("DT720", "ProfilerConfig"),
        ("DT731", "an"),
        ("DT730", "'accuracy'"),
    ]
    assert [finding.rule for finding in request_findings(REQUEST, "loss")] == ["DT733"]
