"""What CDK's own validation and five packs of cdk-nag say of the reference stacks: nothing that has no reason."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.stacks.reference_stacks import ALL

ROOT = Path(__file__).parents[2]
PACKS = {"AwsSolutions", "NIST.800.53.R5", "HIPAA.Security", "PCI.DSS.321", "Serverless"}
MOST_ACKNOWLEDGED_CONSTRUCTS = 10

# In a process of its own: the environment variable that tells CDK not to validate is read when Node.js starts.
_VALIDATE = """
import sys, aws_cdk as cdk, cdk_nag as nag
from tests.stacks.reference_stacks import ALL
strict = {"@aws-cdk/core:validateAgainstDefaultRules": True}
app = cdk.App(analytics_reporting=False, outdir=sys.argv[2], context=strict)
packs = [nag.AwsSolutionsChecks, nag.NIST80053R5Checks, nag.HIPAASecurityChecks, nag.PCIDSS321Checks]
packs += [nag.ServerlessChecks]
cdk.Validations.of(app).add_plugins(*(pack(app) for pack in packs))
ALL[sys.argv[1]](app)
app.synth()
"""


@pytest.fixture(scope="module", params=ALL)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def folder(name, tmp_path_factory):
    """The cloud assembly."""
    folder = tmp_path_factory.mktemp(name)
    environment = {name: value for name, value in os.environ.items() if name != "CDK_VALIDATION"}
    done = subprocess.run(
        [sys.executable, "-c", _VALIDATE, name, folder],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def reports(folder):
    found = json.loads((folder / "validation-report.json").read_text(encoding="utf-8"))["pluginReports"]
    return {report["pluginName"]: report for report in found}


def test_nothing_is_found(reports):
    assert {report["conclusion"] for report in reports.values()} == {"success"}
    assert not [violation for report in reports.values() for violation in report["violations"]]


def test_every_pack_ran(reports):
    # an empty report would be no proof of it: each has something to say that has a reason
    assert set(reports) >= PACKS
    assert all(reports[pack]["suppressedViolations"] for pack in PACKS)


def test_few_constructs_are_acknowledged_each_by_itself(reports):
    acknowledged = set()
    for pack in PACKS:
        for violation in reports[pack]["suppressedViolations"]:
            assert len(violation["reason"]) > 30
            (construct,) = violation["violatingConstructs"]
            acknowledged.add(construct["constructPath"])
    assert len(acknowledged) <= MOST_ACKNOWLEDGED_CONSTRUCTS
    # neither a stack nor anything that holds several resources
    assert not [path for path in acknowledged if path.count("/") < 2]


def test_what_checkov_is_told_has_a_reason(folder):
    (file,) = folder.glob("*.template.json")
    template = json.loads(file.read_text(encoding="utf-8"))
    for resource in template["Resources"].values():
        for skipped in resource.get("Metadata", {}).get("checkov", {"skip": []})["skip"]:
            assert skipped["id"].startswith("CKV_AWS_")
            assert len(skipped["comment"]) > 40
