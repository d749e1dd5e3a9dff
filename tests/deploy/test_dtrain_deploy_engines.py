"""`dtrain local --deploy` of an app with every engine: through a queue, past the others, and where moto gives up."""

import json
import os
import subprocess
import sys

import boto3
import pytest
from botocore.exceptions import ClientError
from tests.cli.engines_app import synthesize

DTRAIN = [sys.executable, "-c", "from cdk_distributed_training.cli import main; main()", "local", "--deploy"]


@pytest.fixture(scope="module")
def engines(tmp_path_factory):
    return synthesize(tmp_path_factory.mktemp("engines"))


def deploy(engines, folder, *arguments):
    done = subprocess.run(
        [*DTRAIN, *arguments, "--app", engines, "--output", folder / "out"],
        capture_output=True, text=True, timeout=200, check=False, cwd=folder, env={**os.environ},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


def test_a_queued_job_goes_through_its_queue(engines, tmp_path):
    said = deploy(engines, tmp_path, "Training/Nightly", "--instance-count", "1")
    assert "Training/Nightly is a TrainingSchedule" in said
    assert "here Training/Queued runs without that" in said
    assert "Training/Queued is a QueuedTrainingJob" not in said
    assert "AWSBatchtraining-job-local-" in said
    assert "['--epochs', '3', '--lr', '0.25'] rank 0 of 1" in said
    assert "execution SUCCEEDED" in said


def test_a_job_goes_by_its_own_machine_whatever_else_runs_it(engines, tmp_path):
    said = deploy(engines, tmp_path, "Training/Job")
    assert "AWSBatch" not in said
    assert "['--epochs', '3', '--lr', '0.5'] rank 0 of 1" in said
    for recorded in ("AWS::Batch::ComputeEnvironment", "AWS::Batch::JobDefinition", "AWS::Batch::JobQueue"):
        assert recorded in said


def test_an_image_with_the_launcher_inside(engines, tmp_path):
    said = deploy(engines, tmp_path, "Training/Tuning")
    assert "Training/Tuning is a TunedTrainingJob" in said
    assert "stands in for the launcher in the job's image" in said
    assert "['--layers', '4', '--lr', '1e-05', '--optimizer', 'adam'] rank 0 of 1" in said


def test_what_moto_cannot_make_is_named(server):
    template = {"Resources": {"Odd": {"Type": "AWS::Lambda::Function", "Properties": {"Handler": "index.handler"}}}}
    with pytest.raises(ClientError, match="resource Odd of type AWS::Lambda::Function cannot be made in the emulation"):
        boto3.client("cloudformation").create_stack(StackName="odd", TemplateBody=json.dumps(template))
