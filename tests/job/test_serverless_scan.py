"""What CDK's own validation, five packs of cdk-nag and cfn-lint say of a serverless job: nothing without a reason."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKS = {"AwsSolutions", "NIST.800.53.R5", "HIPAA.Security", "PCI.DSS.321", "Serverless"}

# In a process of its own: the environment variable that tells CDK not to validate is read when Node.js starts.
_VALIDATE = """
import sys, aws_cdk as cdk, cdk_nag as nag
from aws_cdk import aws_kms as kms
from tests.engines.hyperpod_stack import network
import cdk_distributed_training as dt
strict = {"@aws-cdk/core:validateAgainstDefaultRules": True}
app = cdk.App(analytics_reporting=False, outdir=sys.argv[1], context=strict)
packs = [nag.AwsSolutionsChecks, nag.NIST80053R5Checks, nag.HIPAASecurityChecks, nag.PCIDSS321Checks]
packs += [nag.ServerlessChecks]
cdk.Validations.of(app).add_plugins(*(pack(app) for pack in packs), dt.DistributedTrainingChecks())
stack = cdk.Stack(app, "Customized", env=cdk.Environment(account="111111111111", region="us-east-1"))
model = "arn:aws:sagemaker:us-east-1:aws:hub-content/SageMakerPublicHub/Model/nova-lite/1.0.0"
group = "arn:aws:sagemaker:us-east-1:111111111111:model-package-group/assistants"
dt.ServerlessTrainingJob(
    stack,
    "Tune",
    serverless=dt.ServerlessJobConfig(
        base_model_arn=model, job_type="FineTuning", customization_technique="SFT", peft="LORA"
    ),
    channels=[dt.Channel.from_s3_uri("train", "s3://corpus/conversations/")],
    model_package=dt.ModelPackageConfig(group_arn=group),
)
key = kms.Key(stack, "Key", enable_key_rotation=True)
dt.ServerlessTrainingJob(
    stack,
    "Judge",
    serverless=dt.ServerlessJobConfig(
        base_model_arn=model, job_type="Evaluation", evaluation_type="BenchmarkEvaluation"
    ),
    network=network(stack),
    encryption_key=key,
    execution_key=key,
)
app.synth()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("serverless") / "cdk.out"
    done = subprocess.run(
        [sys.executable, "-c", _VALIDATE, out],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name != "CDK_VALIDATION"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (out / "validation-report.json").is_file(), done.stdout + done.stderr
    return out


def test_nothing_is_found(folder):
    reports = json.loads((folder / "validation-report.json").read_text(encoding="utf-8"))["pluginReports"]
    assert [
        (report["pluginName"], violation["ruleName"], violation["violatingConstructs"])
        for report in reports
        for violation in report["violations"]
    ] == []
    assert {report["pluginName"] for report in reports} >= PACKS


def test_the_linter_finds_nothing(folder):
    # CDK's own state machines say twice that they come after their roles
    linter = [Path(sys.executable).parent / "cfn-lint", "--ignore-checks", "W3005", "--"]
    done = subprocess.run([*linter, folder / "Customized.template.json"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
