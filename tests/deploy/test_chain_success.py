"""A job that is deployed, started and succeeds: what arrived, resource by resource."""

import hashlib
import io
import json
import re
import tarfile

import boto3
import pytest
from tests.deploy.conftest import Chain

DATA = hashlib.sha256(b"world" + b"hello ").hexdigest()


def digest(steps: int) -> str:
    value = DATA
    for step in range(steps):
        value = hashlib.sha256(f"{value} {step}".encode()).hexdigest()
    return value


@pytest.fixture(scope="module")
def ended(deployed: Chain):
    deployed.clear_checkpoints()
    return deployed.run("main", "The first_run!", steps=4)


@pytest.fixture(scope="module")
def job(ended, deployed: Chain):
    (only,) = deployed.jobs("main-the-first-run-")
    return only


def test_the_execution_succeeds_and_says_which_job_it_was(ended, job):
    assert (ended.status, ended.error) == ("SUCCEEDED", "")
    assert ended.output["TrainingJobName"] == job.name
    assert ended.output["TrainingJobStatus"] == "Completed"
    assert re.fullmatch(r"main-the-first-run-[0-9a-f]{8}", job.name)


def test_the_job_went_through_sagemakers_states(job):
    told = boto3.client("sagemaker").describe_training_job(TrainingJobName=job.name)
    assert [one["Status"] for one in told["SecondaryStatusTransitions"]] == [
        "Starting",
        "Downloading",
        "Training",
        "Uploading",
        "Completed",
    ]
    assert told["TrainingStartTime"] < told["TrainingEndTime"]
    assert "FailureReason" not in told


def test_the_request_reached_the_api_whole(job, ended, deployed):
    told = boto3.client("sagemaker").describe_training_job(TrainingJobName=job.name)
    ec2 = boto3.client("ec2")
    (subnet,) = ec2.describe_subnets(SubnetIds=told["VpcConfig"]["Subnets"])["Subnets"]
    (group,) = ec2.describe_security_groups(GroupIds=told["VpcConfig"]["SecurityGroupIds"])["SecurityGroups"]
    assert subnet["VpcId"] == group["VpcId"]
    assert told["HyperParameters"] == {"steps": "4", "note": 'it\'s "quoted" {x} $.y'}
    assert told["Environment"]["TRAINING_EXECUTION_ARN"] == ended.arn
    assert told["EnableManagedSpotTraining"] is True
    role = told["RoleArn"].rpartition("/")[2]
    assert boto3.client("iam").get_role(RoleName=role)["Role"]["Arn"] == told["RoleArn"]
    assert told["ResourceConfig"]["InstanceCount"] == 2


def test_model_and_output_are_in_the_bucket(job, deployed):
    told = boto3.client("sagemaker").describe_training_job(TrainingJobName=job.name)
    uri = f"s3://{deployed.outputs['Bucket']}/output/{job.name}/output/model.tar.gz"
    assert told["ModelArtifacts"]["S3ModelArtifacts"] == uri
    with tarfile.open(fileobj=io.BytesIO(deployed.read(f"output/{job.name}/output/model.tar.gz"))) as archive:
        assert archive.getnames() == ["digest"]
        assert archive.extractfile("digest").read().decode() == digest(4)
    with tarfile.open(fileobj=io.BytesIO(deployed.read(f"output/{job.name}/output/output.tar.gz"))) as archive:
        assert archive.extractfile("note").read().decode() == 'it\'s "quoted" {x} $.y'


def test_checkpoints_are_in_the_bucket(job, deployed):
    assert json.loads(deployed.read("checkpoints/main/state.json")) == {"step": 4, "digest": digest(4)}


def test_each_host_has_a_log_stream(job, deployed):
    streams = boto3.client("logs").describe_log_streams(
        logGroupName="/aws/sagemaker/TrainingJobs", logStreamNamePrefix=job.name
    )["logStreams"]
    names = sorted(stream["logStreamName"] for stream in streams)
    assert [re.sub(r"\d+$", "N", name) for name in names] == [f"{job.name}/algo-1-N", f"{job.name}/algo-2-N"]
    log = deployed.log(job)
    assert "rank 0 of 2 on algo-1" in log
    assert "rank 1 of 2 on algo-2" in log


def test_a_job_reads_its_data_from_the_file_system(chain):
    ended = chain.run("shared", "fs", steps=2)
    assert (ended.status, ended.cause) == ("SUCCEEDED", "")
    (job,) = chain.jobs("shared-fs-")
    source = {one["ChannelName"]: one for one in job.request["InputDataConfig"]}["train"]["DataSource"]
    system = source["FileSystemDataSource"]
    assert system["FileSystemId"] == chain.outputs["FileSystem"]
    assert re.fullmatch(r"/[0-9a-f]{8}/corpus", system["DirectoryPath"])
    with tarfile.open(fileobj=io.BytesIO(chain.read(f"output/{job.name}/output/model.tar.gz"))) as archive:
        assert archive.extractfile("digest").read().decode() == digest(2)
