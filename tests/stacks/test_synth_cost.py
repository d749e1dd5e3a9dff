"""What a job costs at synthesis, in numbers that do not vary: calls into Node.js, imported modules, equal templates."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.bench_synth import Apps

ROOT = Path(__file__).parents[2]

# may only fall
CALLS_PER_JOB = 85

_IMPORTED = """
import json, sys
import cdk_distributed_training as dt
before = [name for name in sys.modules if name.startswith("aws_cdk")]
dt.DistributedTrainingJob, dt.TrainingNetwork, dt.Instances, dt.SourceCode, dt.Channel
after = sorted({name.split(".")[1] for name in sys.modules if name.startswith("aws_cdk.aws_")})
ours = [name.partition(".")[2] for name in sys.modules if name.startswith(dt.__name__)]
print(json.dumps([before, after, ours]))
"""
_ALL_NAMES = """
import json
import aws_cdk
from jsii._kernel.providers.process import _NodeProcess
import cdk_distributed_training as dt

asked, send = {}, _NodeProcess.send

def listen(process, request, response):
    asked.setdefault(name, []).append(str(request))
    return send(process, request, response)

_NodeProcess.send = listen
for name in dt.__all__:
    getattr(dt, name)
print(json.dumps(asked))
"""


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    """Calls of our app by its number of jobs; making the apps also compares our template with the hand-written one."""
    return {count: Apps(count, tmp_path_factory.mktemp(f"jobs{count}")).crossings("ours") for count in (1, 2)}


def test_calls_of_one_more_job(calls):
    assert calls[2] - calls[1] <= CALLS_PER_JOB


def test_modules_of_cdk_are_imported_when_they_are_used():
    done = subprocess.run([sys.executable, "-c", _IMPORTED], cwd=ROOT, capture_output=True, text=True, check=True)
    before, after, _ = json.loads(done.stdout)
    assert before == []
    # what any app with a network, a role, a bucket, a key and a state machine imports; ECR, Lambda and FSx come later
    assert after == [
        *("aws_ec2", "aws_events", "aws_events_targets", "aws_iam", "aws_kms"),
        *("aws_logs", "aws_s3", "aws_s3_assets", "aws_stepfunctions"),
    ]


def test_parts_that_few_jobs_ask_for_are_imported_by_those():
    done = subprocess.run([sys.executable, "-c", _IMPORTED], cwd=ROOT, capture_output=True, text=True, check=True)
    ours = set(json.loads(done.stdout)[2])
    assert {"request.training_job_request", "request.instances", "distribution.torchrun"} <= ours
    others = "debugger evaluation_rule experiment_config instance_group instance_placement instance_preference"
    others += " managed_spot mlflow_config model_package_config profiler retry_strategy serverless_job"
    assert not {f"request.{name}" for name in [*others.split(), "tensor_board_config"]} & ours
    assert not {"distribution.smp", "distribution.from_sagemaker", "checks.plugin"} & ours


def test_importing_asks_nothing_of_node():
    # the first question loads CDK's services there and a type checker here: a tenth of a second that only an app needs
    done = subprocess.run([sys.executable, "-c", _ALL_NAMES], cwd=ROOT, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {}
