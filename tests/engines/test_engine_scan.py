"""What CDK's own validation and five packs of cdk-nag say of the engines: nothing that has no reason."""

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
from tests.engines.engine_stack import with_every_engine
strict = {"@aws-cdk/core:validateAgainstDefaultRules": True}
app = cdk.App(analytics_reporting=False, outdir=sys.argv[1], context=strict)
packs = [nag.AwsSolutionsChecks, nag.NIST80053R5Checks, nag.HIPAASecurityChecks, nag.PCIDSS321Checks]
packs += [nag.ServerlessChecks]
cdk.Validations.of(app).add_plugins(*(pack(app) for pack in packs))
stack = cdk.Stack(app, "Engines", env=cdk.Environment(account="111111111111", region="us-east-1"))
with_every_engine(stack, pathlib.Path(sys.argv[2]))
app.synth()
"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    folder = tmp_path_factory.mktemp("engines")
    done = subprocess.run(
        [sys.executable, "-c", _VALIDATE, folder, tmp_path_factory.mktemp("source")],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name != "CDK_VALIDATION"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((folder / "validation-report.json").read_text(encoding="utf-8"))["pluginReports"]
    return {report["pluginName"]: report for report in found}


def test_nothing_is_found(reports):
    assert not [violation for report in reports.values() for violation in report["violations"]]


def test_every_pack_ran(reports):
    assert set(reports) >= PACKS
    assert all(reports[pack]["suppressedViolations"] for pack in PACKS)
