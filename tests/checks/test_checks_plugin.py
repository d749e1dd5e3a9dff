"""The checks inside of an app, by CDK's own validation: findings with construct paths, that can be acknowledged."""

import json

import aws_cdk as cdk
import pytest
from aws_cdk import aws_fsx as fsx

import cdk_distributed_training as dt
from cdk_distributed_training.checks.registry import all_rules


class App:
    """An app with a file system that someone else's code made."""

    def __init__(self, folder, *, capacity, region="us-east-1", keep=False):
        self.app = cdk.App(outdir=str(folder))
        self.folder = folder
        stage = cdk.Stage(self.app, "Prod")
        environment = cdk.Environment(account="111111111111", region=region) if region else None
        stack = cdk.Stack(stage, "Data", env=environment)
        self.file_system = fsx.CfnFileSystem(
            stack,
            "Fs",
            file_system_type="LUSTRE",
            subnet_ids=["subnet-0123456789abcdef0"],
            storage_capacity=capacity,
            lustre_configuration=fsx.CfnFileSystem.LustreConfigurationProperty(
                deployment_type="PERSISTENT_2", per_unit_storage_throughput=250
            ),
        )
        if keep:
            self.file_system.apply_removal_policy(cdk.RemovalPolicy.RETAIN)
        cdk.Validations.of(self.app).add_plugins(dt.DistributedTrainingChecks())

    def acknowledge(self, rule_id):
        acknowledgment = cdk.Acknowledgment(id=f"DistributedTraining::{rule_id}", reason="known")
        cdk.Validations.of(self.file_system).acknowledge(acknowledgment)

    def report(self):
        """What the plug-in reported; synthesis may fail."""
        found = json.loads((self.folder / "validation-report.json").read_text())["pluginReports"]
        return next((report for report in found if report["pluginName"] == "DistributedTraining"), None)


def test_error_stops_synthesis(tmp_path):
    app = App(tmp_path, capacity=1300, keep=True)
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.app.synth()
    report = app.report()
    assert report["conclusion"] == "failure"
    (violation,) = report["violations"]
    assert (violation["ruleName"], violation["severity"]) == ("DT203", "error")
    assert violation["suggestedFix"] == "choose 1,200 or 2,400 GiB"
    assert violation["ruleMetadata"]["source"].startswith("https://docs.aws.amazon.com/fsx/")
    (place,) = violation["violatingConstructs"]
    assert place["constructPath"] == "Prod/Data/Fs"
    assert place["cloudFormationResource"]["propertyPaths"] == ["Properties.StorageCapacity"]


def test_error_can_be_acknowledged(tmp_path):
    app = App(tmp_path, capacity=1300, keep=True)
    app.acknowledge("DT203")
    app.app.synth()
    (suppressed,) = app.report()["suppressedViolations"]
    assert (suppressed["acknowledgedId"], suppressed["reason"]) == ("DistributedTraining::DT203", "known")


def test_warning_lets_synthesis_pass(tmp_path):
    app = App(tmp_path, capacity=1200)
    app.app.synth()
    (violation,) = app.report()["violations"]
    assert (violation["ruleName"], violation["severity"]) == ("DT252", "warning")


def test_token_is_counted_and_not_judged(tmp_path):
    app = App(tmp_path, capacity=cdk.Token.as_number({"Ref": "AWS::NoSuchThing"}), region=None)
    app.app.synth()
    report = app.report()
    assert [violation["ruleName"] for violation in report["violations"]] == ["DT252"]
    assert report["metadata"]["not judged"].split()[0] != "0"


def test_who_it_is():
    checks = dt.DistributedTrainingChecks()
    assert checks.name == "DistributedTraining"
    assert checks.version == dt.__version__
    assert checks.rule_ids == list(all_rules())
