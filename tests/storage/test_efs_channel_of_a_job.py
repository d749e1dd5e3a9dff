"""A job that reads from EFS and writes to it, in the file system's network."""

import json

import aws_cdk as cdk
from aws_cdk.assertions import Template

import cdk_distributed_training as dt


def test_a_job_mounts_it(tmp_path):
    (tmp_path / "train.py").write_text("print('hello')\n")
    stack = cdk.Stack(cdk.App(), "S", env=cdk.Environment(account="111111111111", region="us-east-1"))
    network = dt.TrainingNetwork(stack, "Network", availability_zone="us-east-1d")
    shared = dt.EfsFileSystem(stack, "Shared", network=network)
    dt.DistributedTrainingJob(
        stack,
        "Job",
        source=dt.SourceCode.from_directory(str(tmp_path), entry_script="train.py"),
        instances=dt.Instances("ml.g5.12xlarge", count=2),
        channels=[shared.channel("train"), shared.channel("results", directory_path="/results", access_mode="rw")],
    )
    template = Template.from_stack(stack).to_json()
    text = json.dumps(template)
    (subnet,) = [key for key, found in template["Resources"].items() if found["Type"] == "AWS::EC2::Subnet"]
    assert subnet in text
    definition = next(
        str(found["Properties"]["DefinitionString"])
        for found in template["Resources"].values()
        if found["Type"] == "AWS::StepFunctions::StateMachine" and "results" in str(found)
    )
    assert definition.count("FSxLustre") == 0
    assert definition.count("EFS") == 2
    assert "elasticfilesystem:ClientWrite" in text
