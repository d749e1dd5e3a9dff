"""Update, destruction and second life of a stack that is deployed apart from the others."""

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import boto3
import pytest
from aws_cdk import aws_s3 as s3
from moto.ec2.models import ec2_backends
from moto.iam.models import iam_backends
from tests.deploy.chain_app import HOUR, job

import cdk_distributed_training as dt
from cdk_distributed_training.local.aws import executions
from cdk_distributed_training.local.aws.cdk_cli import CdkCli
from cdk_distributed_training.local.aws.job_service import JobService
from cdk_distributed_training.local.aws.server import ACCOUNT, REGION


def synthesize(folder: Path, *, steps: int) -> Path:
    app = cdk.App(outdir=str(folder))
    stack = cdk.Stack(app, "Life")
    bucket = s3.Bucket(stack, "Data", removal_policy=cdk.RemovalPolicy.DESTROY)
    network = dt.TrainingNetwork(stack, "Network")
    corpus = dt.LustreFileSystem(
        stack,
        "Corpus",
        network=network,
        storage_capacity=cdk.Size.gibibytes(1200),
        removal_policy=cdk.RemovalPolicy.DESTROY,
    )
    job(
        stack,
        "Job",
        bucket=bucket,
        channels=[corpus.channel("train", directory_path="/")],
        network=network,
        job_name="life",
        max_runtime=HOUR,
        hyperparameters={"steps": steps},
    )
    app.synth()
    return folder


def resources() -> dict[str, str]:
    summaries = boto3.client("cloudformation").list_stack_resources(StackName="Life")["StackResourceSummaries"]
    return {one["LogicalResourceId"]: one["PhysicalResourceId"] for one in summaries}


def account() -> dict[str, Any]:
    """What is in the account besides what CloudFormation says."""
    ec2, iam = ec2_backends[ACCOUNT][REGION], iam_backends[ACCOUNT]["aws"]
    return {
        "vpcs": sorted(ec2.vpcs),
        "endpoints": sorted(name for name, one in ec2.vpc_end_points.items() if one.state != "deleted"),
        "groups": sorted(
            group["GroupId"] for group in boto3.client("ec2").describe_security_groups()["SecurityGroups"]
        ),
        "roles": sorted(role.name for role in iam.roles.values()),
        "policies": sorted(arn for arn in iam.managed_policies if f":{ACCOUNT}:" in arn),
        "machines": sorted(
            one["stateMachineArn"] for one in boto3.client("stepfunctions").list_state_machines()["stateMachines"]
        ),
        "rules": sorted(one["Name"] for one in boto3.client("events").list_rules()["Rules"]),
        "file systems": sorted(
            one["FileSystemId"] for one in boto3.client("fsx").describe_file_systems()["FileSystems"]
        ),
        "log groups": sorted(one["logGroupName"] for one in boto3.client("logs").describe_log_groups()["logGroups"]),
        "functions": sorted(one["FunctionName"] for one in boto3.client("lambda").list_functions()["Functions"]),
        "buckets": sorted(one["Name"] for one in boto3.client("s3").list_buckets()["Buckets"]),
    }


@pytest.fixture(scope="module")
def apps(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The app, and the same with one hyperparameter changed."""
    folder = tmp_path_factory.mktemp("life")
    return synthesize(folder / "one", steps=1), synthesize(folder / "two", steps=2)


def test_a_stack_lives(apps, deployed, service: JobService):
    environment = deployed.cdk.environment
    before = account()
    first, second = (CdkCli(app, environment) for app in apps)

    first.deploy()
    made = resources()
    jobs = len(service.jobs)
    default = boto3.client("ec2").describe_security_groups(
        Filters=[
            {"Name": "vpc-id", "Values": [made["NetworkVpcFAC8F4A5"]]},
            {"Name": "group-name", "Values": ["default"]},
        ]
    )["SecurityGroups"]
    assert [(group["IpPermissions"], group["IpPermissionsEgress"]) for group in default] == [([], [])]

    second.deploy()
    changed = resources()
    assert changed == made, "an update replaced something"
    assert len(service.jobs) == jobs, "an update started a job"
    machine = executions.job_state_machine("Life", "life")
    definition = json.loads(boto3.client("stepfunctions").describe_state_machine(stateMachineArn=machine)["definition"])
    assert definition["States"]["Defaults"]["Assign"]["defaults"]["hyperparameters"] == {"steps": "2"}

    second.destroy()
    left = {kind: sorted(set(names) - set(before[kind])) for kind, names in account().items()}
    # the records of the network are retained, as the template says
    assert {kind: names for kind, names in left.items() if names} == {
        "log groups": [made["NetworkFlowLogRecords4C7390BC"]]
    }

    first.deploy()
    again = resources()
    assert set(again) == set(made)
    ended = executions.wait(executions.start(executions.job_state_machine("Life", "life"), name="again", given={}))
    assert ended.status == "SUCCEEDED", ended.cause
    first.destroy()
