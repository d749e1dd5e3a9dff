"""Policy validation of the network and of a file system beside it."""

import json
from pathlib import Path

import aws_cdk as cdk
import cdk_nag
import pytest
from aws_cdk import aws_s3 as s3

import cdk_distributed_training as dt


@pytest.fixture(scope="module")
def reports(tmp_path_factory) -> list[dict]:
    app = cdk.App(outdir=str(tmp_path_factory.mktemp("assembly")), analytics_reporting=False)
    stack = cdk.Stack(app, "S", env=cdk.Environment(account="111111111111", region="us-east-1"))
    network = dt.TrainingNetwork(stack, "Network", availability_zone="us-east-1d")
    corpus = dt.LustreFileSystem(stack, "Corpus", network=network, storage_capacity=cdk.Size.gibibytes(4800))
    corpus.add_data_repository(s3.Bucket.from_bucket_name(stack, "B", "books"), file_system_path="/books")
    # one finding on purpose: an empty report is no proof that the pack ran
    s3.CfnBucket(stack, "Proof")
    cdk.Validations.of(app).add_plugins(cdk_nag.AwsSolutionsChecks(app))
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()
    return json.loads(Path(app.outdir, "validation-report.json").read_text())["pluginReports"]


def test_nothing_is_found_but_the_proof(reports):
    found = {
        (report["pluginName"], violation["ruleName"], construct["constructPath"])
        for report in reports
        for violation in report["violations"]
        for construct in violation["violatingConstructs"]
    }
    assert {path for _, _, path in found} == {"S/Proof"}
    assert "AwsSolutions" in {pack for pack, _, _ in found}
