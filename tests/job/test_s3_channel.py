"""Input channels from S3."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3

import cdk_distributed_training as dt


@pytest.fixture
def stack(tmp_path):
    return cdk.Stack(cdk.App(analytics_reporting=False, outdir=str(tmp_path)), "Stack")


def bind(stack, channel):
    policy = iam.ManagedPolicy(stack, "Policy")
    entry = stack.resolve(channel.bind(policy))
    return entry, stack.resolve(policy.document)["Statement"]


def test_a_bucket(stack):
    bucket = s3.Bucket.from_bucket_name(stack, "Data", "corpora")
    entry, statements = bind(stack, dt.Channel.from_bucket("train", bucket))
    assert entry["DataSource"]["S3DataSource"]["S3Uri"] == "s3://corpora/"
    assert "InputMode" not in entry
    assert [statement["Action"] for statement in statements] == ["s3:ListBucket", "s3:GetObject"]


@pytest.mark.parametrize(
    ("uri", "arn"), [("s3://corpora/v1/train", ":s3:::corpora/v1/train*"), ("s3://corpora", ":s3:::corpora/*")]
)
def test_an_address(stack, uri, arn):
    entry, (listing, reading) = bind(stack, dt.Channel.from_s3_uri("train", uri))
    assert entry["DataSource"]["S3DataSource"]["S3Uri"] == uri
    assert listing["Resource"]["Fn::Join"][1][-1] == ":s3:::corpora"
    assert reading["Resource"]["Fn::Join"][1][-1] == arn


def test_an_address_with_a_token_in_it(stack):
    bucket = s3.Bucket(stack, "Data")
    _, (listing, _) = bind(stack, dt.Channel.from_s3_uri("train", f"s3://{bucket.bucket_name}/v1"))
    assert listing["Resource"]["Fn::Join"][1][-1] == {"Ref": "Data666C94C7"}


def test_an_address_that_is_a_token(stack):
    parameter = cdk.CfnParameter(stack, "Corpus")
    entry, (listing, reading) = bind(stack, dt.Channel.from_s3_uri("train", parameter.value_as_string))
    assert entry["DataSource"]["S3DataSource"]["S3Uri"] == {"Ref": "Corpus"}
    bucket = {"Fn::Select": [2, {"Fn::Split": ["/", {"Ref": "Corpus"}]}]}
    assert bucket in listing["Resource"]["Fn::Join"][1]
    assert reading["Resource"]["Fn::Join"][1][-1] == "/*"


@pytest.mark.parametrize("uri", ["", "corpora/v1", "https://corpora", "s3://", "s3:///x", "s3://b/" + "x" * 1024])
def test_no_address(uri):
    with pytest.raises(dt.ConfigurationError, match="DT308"):
        dt.Channel.from_s3_uri("train", uri)


OPTIONS = {
    "distribution": "ShardedByS3Key",
    "shuffle_seed": 7,
    "instance_groups": ["train"],
    "content_type": "text/csv",
    "compression": "Gzip",
    "record_wrapper": "RecordIO",
    "accept_eula": True,
    "hub_content_arn": "arn:aws:sagemaker:us-east-1:aws:hub-content/hub/Model/m/1.0.0",
}


def test_options(stack):
    entry, _ = bind(
        stack,
        dt.Channel.from_s3_uri("train", "s3://corpora/v1", input_mode="Pipe", options=dt.ChannelOptions(**OPTIONS)),
    )
    assert entry == {
        "ChannelName": "train",
        "DataSource": {
            "S3DataSource": {
                "S3DataType": "S3Prefix",
                "S3Uri": "s3://corpora/v1",
                "S3DataDistributionType": "ShardedByS3Key",
                "InstanceGroupNames": ["train"],
                "ModelAccessConfig": {"AcceptEula": True},
                "HubAccessConfig": {"HubContentArn": OPTIONS["hub_content_arn"]},
            }
        },
        "ContentType": "text/csv",
        "CompressionType": "Gzip",
        "RecordWrapperType": "RecordIO",
        "InputMode": "Pipe",
        "ShuffleConfig": {"Seed": 7},
    }


def test_conversations(stack):
    options = dt.ChannelOptions(conversations=True)
    entry, _ = bind(stack, dt.Channel.from_s3_uri("train", "s3://corpora/v1", options=options))
    assert entry["DataSource"]["S3DataSource"]["S3DataType"] == "Converse"


def test_a_manifest_grants_itself_and_its_data(stack):
    bucket = s3.Bucket.from_bucket_name(stack, "Data", "corpora")
    entry, statements = bind(
        stack, dt.Channel.from_manifest("train", bucket, key="lists/train.json", data_prefix="v1/")
    )
    assert entry["DataSource"]["S3DataSource"]["S3DataType"] == "ManifestFile"
    assert entry["DataSource"]["S3DataSource"]["S3Uri"] == "s3://corpora/lists/train.json"
    flat = str(statements)
    assert "corpora/v1/*" in flat
    assert "corpora/lists/train.json*" in flat


def test_an_augmented_manifest_comes_through_a_pipe(stack):
    bucket = s3.Bucket.from_bucket_name(stack, "Data", "corpora")
    channel = dt.Channel.from_augmented_manifest(
        "train",
        bucket,
        key="labels.jsonl",
        attribute_names=["source-ref", "label"],
        options=dt.ChannelOptions(record_wrapper="RecordIO"),
    )
    entry, _ = bind(stack, channel)
    assert entry["InputMode"] == "Pipe"
    assert entry["RecordWrapperType"] == "RecordIO"
    source = entry["DataSource"]["S3DataSource"]
    assert source["S3DataType"] == "AugmentedManifestFile"
    assert source["AttributeNames"] == ["source-ref", "label"]


def test_a_data_set_of_a_hub(stack):
    arn = "arn:aws:sagemaker:us-east-1:111122223333:hub-content/hub/DataSet/d/1.0.0"
    entry, (statement,) = bind(stack, dt.Channel.from_dataset("train", arn))
    assert entry["DataSource"] == {"DatasetSource": {"DatasetArn": arn}}
    assert (statement["Action"], statement["Resource"]) == ("sagemaker:DescribeHubContent", arn)
