"""What is made in one region is not used in another, as far as the app knows where that is."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_s3 as s3

import cdk_distributed_training as dt

ACCOUNT = "111111111111"


@pytest.fixture
def stacks(tmp_path):
    app = cdk.App(analytics_reporting=False, outdir=str(tmp_path / "out"))
    regions = {"There": "eu-west-1", "Here": "us-east-1"}
    made = [cdk.Stack(app, id, env=cdk.Environment(account=ACCOUNT, region=region)) for id, region in regions.items()]
    return [*made, cdk.Stack(app, "Anywhere")]


@pytest.fixture
def job(tmp_path):
    code = tmp_path / "code"
    code.mkdir()
    (code / "train.py").write_text("")

    def make(stack, *, network=None, channels=()):
        return dt.DistributedTrainingJob(
            stack,
            "Job",
            source=dt.SourceCode.from_directory(str(code), entry_script="train.py"),
            instances=dt.Instances("ml.g5.2xlarge"),
            network=network or by_ids(stack),
            channels=channels,
        )

    return make


def by_ids(stack):
    return dt.TrainingNetwork.from_ids(
        stack, "Known", vpc_id="vpc-1", subnet_id="subnet-1", security_group_ids=["sg-1"]
    )


def refused(prop):
    return pytest.raises(
        dt.ConfigurationError, match=rf"{prop}: got one that is made in eu-west-1; allowed: one in us-east-1.*DT162"
    )


def test_a_jobs_network(stacks, job):
    there, here, _ = stacks
    with refused("network"):
        job(here, network=dt.TrainingNetwork(there, "Network"))


@pytest.mark.parametrize("kind", [dt.LustreFileSystem, dt.EfsFileSystem])
def test_a_file_systems_network(stacks, kind):
    there, here, _ = stacks
    size = {"storage_capacity": cdk.Size.gibibytes(1200)} if kind is dt.LustreFileSystem else {}
    with refused("network"):
        kind(here, "FileSystem", network=dt.TrainingNetwork(there, "Network"), **size)


@pytest.mark.parametrize(
    "channel",
    [
        lambda bucket: dt.Channel.from_bucket("train", bucket),
        lambda bucket: dt.Channel.from_manifest("train", bucket, key="list.json"),
        lambda bucket: dt.Channel.from_augmented_manifest("train", bucket, key="list.json", attribute_names=["x"]),
    ],
)
def test_a_channels_bucket(stacks, job, channel):
    there, here, _ = stacks
    with refused(r"channels\['train'\]"):
        job(here, channels=[channel(s3.Bucket(there, "Bucket", bucket_name="corpora"))])


def test_a_bucket_that_is_only_named_in_another_region(stacks, job):
    there, here, _ = stacks
    assert job(here, channels=[dt.Channel.from_bucket("train", s3.Bucket.from_bucket_name(there, "Data", "corpora"))])


def test_regions_that_only_deployment_knows(stacks, job):
    there, _, anywhere = stacks
    bucket = s3.Bucket(there, "Bucket", bucket_name="corpora")
    assert job(anywhere, channels=[dt.Channel.from_bucket("train", bucket)])


def test_a_network_that_was_made_elsewhere(stacks, job):
    there, here, _ = stacks
    assert job(here, network=by_ids(there))
