"""Policy validation of networks and of file systems beside them: no finding is left, and few had to be answered."""

import json
from collections import defaultdict
from pathlib import Path

import aws_cdk as cdk
import cdk_nag
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3

import cdk_distributed_training as dt

PACKS = {
    "AwsSolutions": cdk_nag.AwsSolutionsChecks,
    "NIST.800.53.R5": cdk_nag.NIST80053R5Checks,
    "HIPAA.Security": cdk_nag.HIPAASecurityChecks,
    "PCI.DSS.321": cdk_nag.PCIDSS321Checks,
    "Serverless": cdk_nag.ServerlessChecks,
}


def closed(stack, key) -> None:
    network = dt.TrainingNetwork(stack, "Network", availability_zone="us-east-1d", encryption_key=key)
    corpus = dt.LustreFileSystem(
        stack, "Corpus", network=network, storage_capacity=cdk.Size.gibibytes(4800), encryption_key=key
    )
    corpus.add_data_repository(s3.Bucket.from_bucket_name(stack, "B", "books"), file_system_path="/books")


def with_everything(stack, key) -> None:
    network = dt.TrainingNetwork(
        stack, "Network", encryption_key=key, internet=dt.InternetAccess.nat_gateway(), secondary_cidr="100.64.0.0/16"
    )
    network.add_calls(*dt.TrainingCall)
    dt.LustreFileSystem(
        stack,
        "Corpus",
        network=network,
        storage_capacity=cdk.Size.gibibytes(4800),
        per_unit_storage_throughput=1000,
        efa=True,
        encryption_key=key,
        log_level=dt.LustreLogLevel.WARN_ERROR,
    )
    dt.EfsFileSystem(stack, "Shared", network=network, encryption_key=key)


def on_an_existing_vpc(stack, key) -> None:
    vpc = ec2.Vpc.from_vpc_attributes(
        stack, "Vpc", vpc_id="vpc-1", availability_zones=["us-east-1a"], private_subnet_ids=["subnet-a"]
    )
    network = dt.TrainingNetwork(stack, "Network", vpc=vpc, flow_log=True, encryption_key=key)
    dt.LustreFileSystem(
        stack,
        "Scratch",
        network=network,
        storage_capacity=cdk.Size.gibibytes(1200),
        deployment_type=dt.LustreDeploymentType.SCRATCH_2,
    )


@pytest.fixture(scope="module", params=[closed, with_everything, on_an_existing_vpc], ids=lambda made: made.__name__)
def reports(request, tmp_path_factory) -> list[dict]:
    app = cdk.App(outdir=str(tmp_path_factory.mktemp("assembly")), analytics_reporting=False)
    stack = cdk.Stack(app, "S", env=cdk.Environment(account="111111111111", region="us-east-1"))
    request.param(stack, kms.Key(stack, "Key", enable_key_rotation=True))
    # findings on purpose: an empty report is no proof that a pack ran
    s3.CfnBucket(stack, "Proof")
    ec2.CfnSecurityGroupIngress(
        stack, "ProofToo", group_id="sg-1", ip_protocol="-1", source_security_group_id="sg-1", description="all"
    )
    for pack in PACKS.values():
        cdk.Validations.of(app).add_plugins(pack(app))
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()
    return json.loads(Path(app.outdir, "validation-report.json").read_text())["pluginReports"]


def test_nothing_is_found_but_the_proof(reports):
    found = defaultdict(set)
    for report in reports:
        for violation in report["violations"]:
            for construct in violation["violatingConstructs"]:
                found[construct["constructPath"]].add(report["pluginName"])
    assert set(found) == {"S/Proof", "S/ProofToo"}
    # the serverless pack has no rule about anything here
    assert set(PACKS) - found["S/Proof"] == {"Serverless"}
    assert found["S/ProofToo"] == {"NIST.800.53.R5", "HIPAA.Security", "PCI.DSS.321"}
