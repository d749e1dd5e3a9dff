"""Runs that new objects start, deployed: from a bucket, and from a file system's data repository."""

import aws_cdk as cdk
import boto3
import pytest
from aws_cdk import aws_s3 as s3
from tests.deploy.chain_app import job
from tests.deploy.conftest import eventually

import cdk_distributed_training as dt
from cdk_distributed_training.local.aws.cdk_cli import CdkCli

QUIET = cdk.Duration.seconds(1)


def synthesize(folder):
    app = cdk.App(outdir=str(folder))
    stack = cdk.Stack(app, "NewData")
    bucket = s3.Bucket(stack, "Data", removal_policy=cdk.RemovalPolicy.DESTROY)
    network = dt.TrainingNetwork(stack, "Network")
    corpus = dt.LustreFileSystem(
        stack,
        "Corpus",
        network=network,
        storage_capacity=cdk.Size.gibibytes(1200),
        removal_policy=cdk.RemovalPolicy.DESTROY,
    )
    link = corpus.add_data_repository(bucket, prefix="corpus/", file_system_path="/corpus")
    mounted = job(
        stack,
        "Mounted",
        bucket=bucket,
        channels=[corpus.channel("train", directory_path="/corpus")],
        network=network,
        job_name="mounted",
    )
    copied = job(
        stack,
        "Copied",
        bucket=bucket,
        channels=[dt.Channel.from_bucket("train", bucket, prefix="texts/")],
        network=network,
        job_name="copied",
    )
    dt.TrainingOnNewData(
        stack,
        "OnLinked",
        job=mounted,
        repository=link,
        suffix="_SUCCESS",
        quiet=QUIET,
        hyperparameters={"note": "linked"},
    )
    dt.TrainingOnNewData(stack, "OnTexts", job=copied, bucket=bucket, prefix="texts/", quiet=QUIET)
    cdk.CfnOutput(stack, "Bucket", value=bucket.bucket_name)
    app.synth()
    return folder


@pytest.fixture(scope="module")
def data(deployed, tmp_path_factory):
    """The bucket of the deployed stack."""
    cdk_cli = CdkCli(synthesize(tmp_path_factory.mktemp("new-data") / "cdk.out"), deployed.cdk.environment)
    bucket = boto3.resource("s3").Bucket(cdk_cli.deploy()["NewData"]["Bucket"])
    yield bucket
    bucket.objects.delete()
    cdk_cli.destroy()


def completed(chain, prefix):
    (only,) = eventually(lambda: chain.jobs(prefix))
    eventually(lambda: only.description()["TrainingJobStatus"] != "InProgress")
    assert only.description()["TrainingJobStatus"] == "Completed", only.description()
    return only


def test_what_is_new_in_a_repository_is_seen_by_the_run_that_it_starts(deployed, data):
    data.put_object(Key="corpus/part-0.txt", Body=b"hello")
    data.put_object(Key="elsewhere/_SUCCESS", Body=b"")
    data.put_object(Key="corpus/_SUCCESS", Body=b"")
    run = completed(deployed, "mounted-")
    assert run.request["HyperParameters"]["note"] == "linked"
    assert "rank 1 of 2 on algo-2, note 'linked'" in deployed.log(run)


def test_a_burst_of_new_objects_starts_one_run(deployed, data):
    for number in range(3):
        data.put_object(Key=f"texts/part-{number}.txt", Body=b"hello")
    completed(deployed, "copied-")
