"""What CDK's own validation, five packs of cdk-nag and cfn-lint say of HyperPod: nothing that has no reason."""

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
import pathlib, sys, aws_cdk as cdk, cdk_nag as nag
import cdk_distributed_training as dt
from tests.engines.hyperpod_stack import stack, with_both
scope = stack(sys.argv[1], **{"@aws-cdk/core:validateAgainstDefaultRules": True})
app = scope.node.root
packs = [nag.AwsSolutionsChecks, nag.NIST80053R5Checks, nag.HIPAASecurityChecks, nag.PCIDSS321Checks]
packs += [nag.ServerlessChecks]
cdk.Validations.of(app).add_plugins(*(pack(app) for pack in packs), dt.DistributedTrainingChecks())
with_both(scope, pathlib.Path(sys.argv[2]))
app.synth()
"""
# CDK's own function that copies files at a deployment, which the app that has it acknowledges
_OF_CDK = "HyperPod/Custom::CDKBucketDeployment"
# a queue for events that are lost is said with the target, which the app brings
_OF_TARGETS = "Serverless-EventBusDLQ"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("hyperpod") / "cdk.out"
    done = subprocess.run(
        [sys.executable, "-c", _VALIDATE, out, tmp_path_factory.mktemp("source")],
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
    found = [
        (report["pluginName"], violation["ruleName"], construct.get("constructPath", construct))
        for report in reports
        for violation in report["violations"]
        for construct in violation["violatingConstructs"]
    ]
    ours = [one for one in found if not str(one[2]).startswith(_OF_CDK) and one[1] != _OF_TARGETS]
    assert ours == []
    assert {report["pluginName"] for report in reports} >= PACKS


def test_the_linter_finds_nothing(folder):
    # CDK's own constructs say twice what they come after
    linter = [Path(sys.executable).parent / "cfn-lint", "--ignore-checks", "W3005", "--"]
    done = subprocess.run([*linter, folder / "HyperPod.template.json"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
