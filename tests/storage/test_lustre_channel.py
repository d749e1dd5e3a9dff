"""Directories of a file system as input channels of a job."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Template

import cdk_distributed_training as dt


@pytest.fixture
def corpus() -> dt.LustreFileSystem:
    stack = cdk.Stack(cdk.App(), "S")
    network = dt.TrainingNetwork(stack, "Network", interface_endpoints=[], flow_log=False)
    return dt.LustreFileSystem(stack, "Corpus", network=network, storage_capacity=cdk.Size.gibibytes(2400))


def new_role(scope) -> iam.Role:
    return iam.Role(scope, "Role", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))


def directory(corpus, **props):
    stack = cdk.Stack.of(corpus)
    bound = corpus.channel("train", **props).bind(new_role(stack))
    return stack.resolve(bound["DataSource"]["FileSystemDataSource"]["DirectoryPath"])


@pytest.mark.parametrize(
    ("path", "rest"),
    [("/", []), ("/corpus", ["/corpus"]), ("/corpus/", ["/corpus"]), ("/a//b", ["/a/b"]), ("/fsxdata", ["/fsxdata"])],
)
def test_the_mount_name_comes_in_front(corpus, path, rest):
    stack = cdk.Stack.of(corpus)
    mount = stack.resolve(corpus.mount_name)
    assert mount["Fn::GetAtt"][1] == "LustreMountName"
    assert directory(corpus, directory_path=path) == {"Fn::Join": ["", ["/", mount, *rest]]}


def test_the_entry_of_the_request(corpus):
    stack = cdk.Stack.of(corpus)
    channel = corpus.channel("train", access_mode="rw")
    entry = stack.resolve(channel.bind(new_role(stack)))
    assert channel.channel_name == entry["ChannelName"] == "train"
    assert channel.network is corpus.network
    source = entry["DataSource"]["FileSystemDataSource"]
    assert source["FileSystemType"] == "FSxLustre"
    assert source["FileSystemAccessMode"] == "rw"
    assert source["FileSystemId"] == stack.resolve(corpus.file_system_id)


def test_binding_lets_the_role_describe_this_file_system(corpus):
    stack = cdk.Stack.of(corpus)
    corpus.channel("train").bind(new_role(stack))
    (policy,) = Template.from_stack(stack).find_resources("AWS::IAM::Policy").values()
    (statement,) = policy["Properties"]["PolicyDocument"]["Statement"]
    assert statement["Action"] == "fsx:DescribeFileSystems"
    assert statement["Resource"] == stack.resolve(corpus.file_system_arn)


def test_a_literal_mount_name_makes_a_literal_path():
    stack = cdk.Stack(cdk.App(), "S")
    network = dt.TrainingNetwork(stack, "Network", interface_endpoints=[])
    corpus = dt.LustreFileSystem.from_attributes(
        stack,
        "Corpus",
        network=network,
        file_system_id="fs-0123456789",
        mount_name="abcdefgh",
        security_group=ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-1"),
    )
    assert directory(corpus, directory_path="/corpus") == "/abcdefgh/corpus"
    with pytest.raises(dt.ConfigurationError, match="DT221"):
        corpus.channel("train", directory_path="/abcdefgh/corpus")


@pytest.mark.parametrize(
    ("props", "rule"),
    [
        ({"directory_path": "corpus"}, "DT220"),
        ({"directory_path": "/a/../b"}, "DT220"),
        ({"directory_path": "/" + "x" * 4096}, "DT220"),
        ({"directory_path": "/fsx/corpus"}, "DT221"),
        ({"directory_path": "/fsx"}, "DT221"),
        ({"access_mode": "rx"}, "DT222"),
    ],
)
def test_what_cannot_be_mounted_is_refused(corpus, props, rule):
    with pytest.raises(dt.ConfigurationError, match=rule):
        corpus.channel("train", **props)


def test_a_directory_called_fsx_may_exist(corpus):
    stack = cdk.Stack.of(corpus)
    corpus.add_data_repository(s3.Bucket.from_bucket_name(stack, "B", "books"), file_system_path="/fsx")
    assert directory(corpus, directory_path="/fsx/a")["Fn::Join"][1][2:] == ["/fsx/a"]


def test_a_path_as_token(corpus):
    stack = cdk.Stack.of(corpus)
    path = cdk.CfnParameter(stack, "Path").value_as_string
    mount = stack.resolve(corpus.mount_name)
    assert directory(corpus, directory_path=path) == {"Fn::Join": ["", ["/", mount, {"Ref": "Path"}]]}
