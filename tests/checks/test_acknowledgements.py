"""Acknowledgements fit what cdk-nag finds, also across stacks and in spite of feature flags."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# In a process of its own: the environment variable that tells CDK not to validate is read when Node.js starts.
_SYNTHESIZE = """
import json, sys
import aws_cdk as cdk, cdk_nag
from aws_cdk import aws_iam as iam, aws_s3 as s3
from cdk_distributed_training.checks.acknowledgements import acknowledge_wildcards

app = cdk.App(analytics_reporting=False, outdir=sys.argv[1], context=json.loads(sys.argv[2]))
cdk.Validations.of(app).add_plugins(cdk_nag.AwsSolutionsChecks(app))
shared, user = cdk.Stack(app, "Shared"), cdk.Stack(app, "User")
bucket = s3.Bucket(shared, "Bucket", enforce_ssl=True, server_access_logs_prefix="logs/")
own = s3.Bucket(user, "Own", enforce_ssl=True, server_access_logs_prefix="logs/")
policy = iam.ManagedPolicy(user, "Policy")
acknowledge_wildcards(policy, "the reason")
for scope in (user, cdk.NestedStack(user, "Nested")):
    statement = iam.PolicyStatement(actions=["s3:GetObject"], resources=["arn:aws:s3:::y/*"])
    acknowledge_wildcards(iam.ManagedPolicy(scope, "Other", statements=[statement]), "another reason")
for resource in (
    "*",
    bucket.arn_for_objects("corpus/*"),
    own.arn_for_objects("*"),
    user.format_arn(service="sagemaker", resource="training-job", resource_name="x-*"),
    f"arn:aws:s3:::{cdk.Fn.select(0, cdk.Fn.split('/', own.bucket_name))}/*",
    cdk.Fn.sub("arn:${AWS::Partition}:s3:::x/*"),
):
    policy.add_statements(iam.PolicyStatement(actions=["s3:GetObject"], resources=[resource]))
app.synth()
"""


@pytest.mark.parametrize(
    "context",
    [{}, {"@aws-cdk/core:defaultCrossStackReferences": "weak"}, {"@aws-cdk/aws-iam:minimizePolicies": True}],
    ids=["no flags", "weak references", "minimized policies"],
)
def test_every_wildcard_is_acknowledged(context, tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "CDK_VALIDATION"}
    done = subprocess.run(
        [sys.executable, "-c", _SYNTHESIZE, tmp_path, json.dumps(context)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    reports = json.loads((tmp_path / "validation-report.json").read_text(encoding="utf-8"))["pluginReports"]
    (nag,) = [report for report in reports if report["pluginName"] == "AwsSolutions"]
    assert len(nag["suppressedViolations"]) == 8
