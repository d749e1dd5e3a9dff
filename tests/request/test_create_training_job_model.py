"""The strict validator itself, and the library's limits against botocore's."""

import copy

import pytest
from tests.request.create_training_job_model import input_shape, problems

from cdk_distributed_training.data.tables import instance_type_names
from cdk_distributed_training.request import limits

GOOD = {
    "TrainingJobName": "digits-0123abcd",
    "RoleArn": "arn:aws:iam::123456789012:role/train",
    "AlgorithmSpecification": {"TrainingImage": "image", "TrainingInputMode": "File"},
    "OutputDataConfig": {"S3OutputPath": "s3://bucket/output"},
    "ResourceConfig": {"InstanceCount": 2, "InstanceType": "ml.p4d.24xlarge", "VolumeSizeInGB": 30},
    "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
}


def test_a_good_request_passes():
    assert problems(GOOD) == []


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (["TrainingJobName"], "bad name!", "does not match"),
        (["ResourceConfig", "InstanceType"], "ml.p99.huge", "is none of"),
        (["ResourceConfig", "InstanceCount"], "2", "Invalid type"),
        (["AlgorithmSpecification", "TrainingInputMode"], "Files", "is none of"),
        (["AlgorithmSpecification", "ContainerArguments"], ["x" * 257], "length 257"),
        (["StoppingCondition", "MaxRuntimeInSeconds"], 0, "number 0"),
        (["Enviroment"], {}, "unknown"),
        (["Environment"], {"A-B": "x"}, "does not match"),
        (["HyperParameters"], {str(number): "" for number in range(101)}, "number of entries 101"),
    ],
)
def test_a_bad_request_does_not(path, value, said):
    request = copy.deepcopy(GOOD)
    parent = request
    for name in path[:-1]:
        parent = parent[name]
    parent[path[-1]] = value
    # values of a wrong type stop the strict walk, as they should
    try:
        found = problems(request)
    except TypeError:
        found = ["Invalid type"]
    assert any(said in problem for problem in found), found


def member(*path):
    shape = input_shape()
    for name in path:
        shape = getattr(shape, name) if name in ("member", "key", "value") else shape.members[name]
    return shape


@pytest.mark.parametrize(
    ("ours", "path"),
    [
        (limits.JOB_NAME, ["TrainingJobName"]),
        (limits.IMAGE, ["AlgorithmSpecification", "TrainingImage"]),
        (limits.CONTAINER_WORD, ["AlgorithmSpecification", "ContainerEntrypoint", "member"]),
        (limits.CONTAINER_WORD, ["AlgorithmSpecification", "ContainerArguments", "member"]),
        (limits.CHANNEL_NAME, ["InputDataConfig", "member", "ChannelName"]),
        (limits.S3_URI, ["InputDataConfig", "member", "DataSource", "S3DataSource", "S3Uri"]),
        (limits.HYPERPARAMETERS.key, ["HyperParameters", "key"]),
        (limits.HYPERPARAMETERS.value, ["HyperParameters", "value"]),
        (limits.ENVIRONMENT.key, ["Environment", "key"]),
        (limits.ENVIRONMENT.value, ["Environment", "value"]),
    ],
)
def test_texts_have_the_models_limits(ours, path):
    metadata = member(*path).metadata
    assert ours.longest == metadata["max"]
    if ours.pattern != limits.ANY:
        assert ours.pattern == metadata["pattern"]


@pytest.mark.parametrize(
    ("ours", "path"),
    [
        (limits.HYPERPARAMETERS.most, ["HyperParameters"]),
        (limits.ENVIRONMENT.most, ["Environment"]),
        (limits.TAGS.most, ["Tags"]),
        (limits.CHANNELS, ["InputDataConfig"]),
        (limits.CONTAINER_WORDS, ["AlgorithmSpecification", "ContainerEntrypoint"]),
        (limits.CONTAINER_WORDS, ["AlgorithmSpecification", "ContainerArguments"]),
    ],
)
def test_numbers_of_entries_are_the_models(ours, path):
    assert ours == member(*path).metadata["max"]


def test_the_table_knows_the_models_instance_types():
    missing = set(member("ResourceConfig", "InstanceType").enum) - instance_type_names()
    assert not missing, "add them to data/instance_types.json"
