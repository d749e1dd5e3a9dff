"""The app of cdk.json, as the CDK command line runs it from the repository's root."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def cdk_synth(folder, *context):
    options = [word for value in context for word in ("--context", value)]
    path = os.pathsep.join([str(ROOT / ".venv" / "bin"), str(ROOT / "node_modules" / ".bin"), os.environ["PATH"]])
    done = subprocess.run(
        ["cdk", "synth", "--quiet", "--no-notices", "--ci", "--output", folder, *options],
        cwd=ROOT,
        env={**os.environ, "PATH": path, "CDK_DISABLE_CLI_TELEMETRY": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    template = json.loads((folder / "Training.template.json").read_text(encoding="utf-8"))
    metadata = json.loads((folder / "Training.metadata.json").read_text(encoding="utf-8"))
    (job,) = [
        entry["data"] for entry in metadata["/Training/Job"] if entry["type"] == "cdk-distributed-training:training-job"
    ]
    return template, job


def kinds(template):
    return {resource["Type"] for resource in template["Resources"].values()}


@pytest.fixture(scope="module")
def default(tmp_path_factory):
    return cdk_synth(tmp_path_factory.mktemp("default"))


def test_the_job_is_found_in_the_assembly(default):
    _, job = default
    assert job["schema"] == 1
    assert job["job_name"] == "training-job"
    request = job["request"]
    assert request["ResourceConfig"]["InstanceType"] == "ml.c7i.2xlarge"
    assert request["ResourceConfig"]["InstanceCount"] == 2
    words = request["AlgorithmSpecification"]["ContainerArguments"]
    assert words == ["torchrun", "--nproc-per-node", "2", "--", "train.py"]
    assert [channel["ChannelName"] for channel in request["InputDataConfig"]] == ["launcher", "code", "train"]


def test_nothing_costs_by_the_hour_for_storage_by_default(default):
    template, _ = default
    assert "AWS::FSx::FileSystem" not in kinds(template)
    assert set(template["Outputs"]) == {"StateMachineArn", "CorpusUri", "OutputUri"}


def test_context_values(tmp_path):
    template, job = cdk_synth(
        tmp_path,
        "file_system=true",
        "instance_type=ml.p4d.24xlarge",
        "instance_count=4",
        "process_count_per_node=auto",
        "availability_zone=us-east-1d",
    )
    request = job["request"]
    assert request["ResourceConfig"]["InstanceType"] == "ml.p4d.24xlarge"
    assert request["ResourceConfig"]["InstanceCount"] == 4
    assert "auto" in request["AlgorithmSpecification"]["ContainerArguments"]
    assert "-cu" in json.dumps(request["AlgorithmSpecification"]["TrainingImage"])
    assert "FileSystemDataSource" in request["InputDataConfig"][2]["DataSource"]
    assert {"AWS::FSx::FileSystem", "AWS::FSx::DataRepositoryAssociation"} <= kinds(template)
    subnets = [r for r in template["Resources"].values() if r["Type"] == "AWS::EC2::Subnet"]
    assert [subnet["Properties"]["AvailabilityZone"] for subnet in subnets] == ["us-east-1d"]
