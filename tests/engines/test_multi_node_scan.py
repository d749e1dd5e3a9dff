"""What CDK's own validation and five packs of cdk-nag say of machines of one's own: nothing that has no reason."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKS = {"AwsSolutions", "NIST.800.53.R5", "HIPAA.Security", "PCI.DSS.321", "Serverless"}

# In a process of its own: the environment variable that tells CDK not to validate is read when Node.js starts.
_VALIDATE = """
import pathlib, sys, aws_cdk as cdk, cdk_nag as nag
import cdk_distributed_training as dt
from tests.engines.multi_node_stack import with_multi_node_job
strict = {"@aws-cdk/core:validateAgainstDefaultRules": True}
app = cdk.App(analytics_reporting=False, outdir=sys.argv[1], context=strict)
packs = [nag.AwsSolutionsChecks, nag.NIST80053R5Checks, nag.HIPAASecurityChecks, nag.PCIDSS321Checks]
packs += [nag.ServerlessChecks]
cdk.Validations.of(app).add_plugins(*(pack(app) for pack in packs), dt.DistributedTrainingChecks())
stack = cdk.Stack(app, "Own", env=cdk.Environment(account="111111111111", region="us-east-1"))
with_multi_node_job(stack, pathlib.Path(sys.argv[2]))
app.synth()
"""


def test_nothing_is_found(tmp_path):
    folder = tmp_path / "cdk.out"
    done = subprocess.run(
        [sys.executable, "-c", _VALIDATE, folder, tmp_path / "source"],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name != "CDK_VALIDATION"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    reports = json.loads((folder / "validation-report.json").read_text(encoding="utf-8"))["pluginReports"]
    found = [
        (report["pluginName"], violation["ruleName"], construct.get("constructPath", construct))
        for report in reports
        for violation in report["violations"]
        for construct in violation["violatingConstructs"]
    ]
    # the rules of this library inform of retries without checkpoints in S3; here they lie on the file system
    assert [one for one in found if one[1] != "DT347"] == []
    assert {report["pluginName"] for report in reports} >= PACKS
