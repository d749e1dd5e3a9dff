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
