"""The files in /opt/ml/input/config."""

import pytest
from tests.local.handmade_app import request, s3_channel

from cdk_distributed_training.local.input_files import config_files, host_names

GROUPS = {
    "InstanceGroups": [
        {"InstanceGroupName": "trainers", "InstanceType": "ml.p5.48xlarge", "InstanceCount": 2},
        {"InstanceGroupName": "loaders", "InstanceType": "ml.c5.18xlarge", "InstanceCount": 1},
    ]
}


def test_resource_configuration_of_equal_machines() -> None:
    files = config_files(request(["true"]), "algo-2", "eth0")
    assert files["resourceconfig.json"] == {
        "current_host": "algo-2",
        "current_instance_type": "ml.c5.xlarge",
        "current_group_name": "homogeneousCluster",
        "hosts": ["algo-1", "algo-2"],
        "instance_groups": [
            {
                "instance_group_name": "homogeneousCluster",
                "instance_type": "ml.c5.xlarge",
                "hosts": ["algo-1", "algo-2"],
            }
        ],
        "network_interface_name": "eth0",
    }


def test_hosts_are_listed_by_the_alphabet() -> None:
    many = request(["true"], ResourceConfig={"InstanceCount": 11, "InstanceType": "ml.c5.xlarge"})
    assert host_names(many)[1] == "algo-2"
    assert config_files(many, "algo-1", "eth0")["resourceconfig.json"]["hosts"][:3] == ["algo-1", "algo-10", "algo-11"]


def test_resource_configuration_of_instance_groups() -> None:
    content = config_files(request(["true"], ResourceConfig=GROUPS), "algo-3", "eth0")["resourceconfig.json"]
    assert content["current_group_name"] == "loaders"
    assert content["current_instance_type"] == "ml.c5.18xlarge"
    assert [group["hosts"] for group in content["instance_groups"]] == [["algo-1", "algo-2"], ["algo-3"]]


def test_hyperparameters_are_as_in_the_request() -> None:
    files = config_files(request(["true"], HyperParameters={"lr": "3e-4", "note": 'ü "q"'}), "algo-1", "eth0")
    assert files["hyperparameters.json"] == {"lr": "3e-4", "note": 'ü "q"'}
    assert config_files(request(["true"]), "algo-1", "eth0")["hyperparameters.json"] == {}


def test_channels() -> None:
    channels = [
        s3_channel("train", "s3://b/x", ContentType="text/csv"),
        s3_channel("val", "s3://b/y", InputMode="FastFile"),
    ]
    system = {"FileSystemDataSource": {"FileSystemId": "fs-1", "DirectoryPath": "/fsx"}}
    channels.append({"ChannelName": "corpus", "DataSource": system})
    assert config_files(request(["true"], InputDataConfig=channels), "algo-1", "eth0")["inputdataconfig.json"] == {
        "train": {
            "TrainingInputMode": "File",
            "S3DistributionType": "FullyReplicated",
            "RecordWrapperType": "None",
            "ContentType": "text/csv",
        },
        "val": {"TrainingInputMode": "FastFile", "S3DistributionType": "FullyReplicated", "RecordWrapperType": "None"},
        "corpus": {"TrainingInputMode": "File", "S3DistributionType": "FullyReplicated", "RecordWrapperType": "None"},
    }


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"S3Uri": "s3://b/c"}, {"S3Uri": "s3://b/c", "LocalPath": "/opt/ml/checkpoints"}),
        ({"S3Uri": "s3://b/c", "LocalPath": "/opt/ml/x"}, {"S3Uri": "s3://b/c", "LocalPath": "/opt/ml/x"}),
    ],
)
def test_checkpoint_configuration(given: dict[str, str], expected: dict[str, str]) -> None:
    assert config_files(request(["true"], CheckpointConfig=given), "algo-1", "lo")["checkpointconfig.json"] == expected
    assert "checkpointconfig.json" not in config_files(request(["true"]), "algo-1", "lo")
