"""Guardrails deny every job but those within them: judged by an evaluator over generated requests."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from hypothesis import given
from hypothesis import strategies as st
from tests.job.policy_evaluator import denied_by

import cdk_distributed_training as dt

KEY = "arn:aws:kms:us-east-1:111111111111:key/11111111-1111-1111-1111-111111111111"
ACTIONS = ["sagemaker:CreateTrainingJob", "sagemaker:CreateHyperParameterTuningJob"]
# what a request within all bounds tells IAM
GOOD = {
    "sagemaker:VpcSubnets": ["subnet-a"],
    "sagemaker:VpcSecurityGroupIds": ["sg-a", "sg-b"],
    "sagemaker:InstanceTypes": ["ml.p5.48xlarge"],
    "sagemaker:VolumeKmsKey": KEY,
    "sagemaker:OutputKmsKey": KEY,
    "sagemaker:FileSystemId": "fs-a",
    "sagemaker:NetworkIsolation": "true",
    "sagemaker:InterContainerTrafficEncryption": "true",
}
# a request without a file system is no way around anything
MAY_BE_MISSING = {"sagemaker:FileSystemId"}


def policy(folder, **props):
    app = cdk.App(analytics_reporting=False, outdir=str(folder))
    stack = cdk.Stack(app, "Bounds", env=cdk.Environment(account="111111111111", region="us-east-1"))
    key = kms.Key.from_key_arn(stack, "Key", KEY)
    network = dt.TrainingNetwork.from_attributes(
        stack,
        "Network",
        vpc=ec2.Vpc.from_vpc_attributes(stack, "Vpc", vpc_id="vpc-1", availability_zones=["us-east-1a"]),
        subnet=ec2.Subnet.from_subnet_attributes(stack, "S", subnet_id="subnet-a", availability_zone="us-east-1a"),
        node_security_group=ec2.SecurityGroup.from_security_group_id(stack, "A", "sg-a"),
        additional_security_groups=[ec2.SecurityGroup.from_security_group_id(stack, "B", "sg-b")],
    )
    everything = {
        "networks": [network],
        "instance_types": ["p5.48xlarge"],
        "volume_keys": [key],
        "output_keys": [key],
        "file_system_ids": ["fs-a"],
        "network_isolation": True,
        "encrypt_inter_container_traffic": True,
    }
    chosen = everything if not props else {name: props[name](everything[name]) for name in props}
    dt.TrainingGuardrails(stack, "Guardrails", **chosen)
    (resource,) = [
        found
        for found in app.synth().get_stack_by_name("Bounds").template["Resources"].values()
        if found["Type"] == "AWS::IAM::ManagedPolicy"
    ]
    return resource["Properties"]["PolicyDocument"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return policy(tmp_path_factory.mktemp("cdk.out"))


@pytest.mark.parametrize("action", ACTIONS)
def test_a_job_within_the_bounds_is_not_denied(action, whole):
    assert denied_by(whole, action, GOOD) == []
    assert denied_by(whole, action, {key: value for key, value in GOOD.items() if key not in MAY_BE_MISSING}) == []


def test_other_actions_are_not_denied(whole):
    assert denied_by(whole, "sagemaker:StopTrainingJob", {}) == []


def test_nothing_is_allowed(whole):
    assert {statement["Effect"] for statement in whole["Statement"]} == {"Deny"}
    assert len({statement["Sid"] for statement in whole["Statement"]}) == len(whole["Statement"])
    assert all(len(statement["Condition"]) == 1 for statement in whole["Statement"])


WORDS = st.text(alphabet="abcdefghijklmnopqrstuvwxyz0123456789-.:/", min_size=1, max_size=60)


@st.composite
def mutated(draw):
    """The good request with one to all of its values changed, or gone."""
    request = dict(GOOD)
    for key in draw(st.lists(st.sampled_from(sorted(GOOD)), min_size=1, unique=True)):
        good = GOOD[key]
        if key not in MAY_BE_MISSING and draw(st.booleans()):
            del request[key]
        elif good == "true":
            request[key] = "false"
        elif isinstance(good, list):
            # among good values, one that is not
            others = draw(st.lists(WORDS.filter(lambda word, good=good: word not in good), min_size=1, max_size=3))
            request[key] = draw(st.permutations([*draw(st.lists(st.sampled_from(good))), *others]))
        else:
            request[key] = draw(WORDS.filter(lambda word, good=good: word != good))
    return request


@given(request=mutated(), action=st.sampled_from(ACTIONS))
def test_every_other_job_is_denied(whole, request, action):
    assert denied_by(whole, action, request)


def test_a_bound_that_is_not_given_is_not_made(tmp_path):
    found = policy(tmp_path, instance_types=lambda given: [*given, "ml.trn1.32xlarge"])
    assert [statement["Sid"] for statement in found["Statement"]] == ["OtherInstanceTypes", "NoInstanceTypes"]
    assert denied_by(found, ACTIONS[0], {"sagemaker:InstanceTypes": ["ml.trn1.32xlarge"]}) == []
    assert denied_by(found, ACTIONS[0], {"sagemaker:InstanceTypes": ["ml.p5.48xlarge", "ml.g5.xlarge"]})


def test_no_file_system_at_all(tmp_path):
    found = policy(tmp_path, file_system_ids=lambda _: [])
    assert denied_by(found, ACTIONS[0], {"sagemaker:FileSystemId": "fs-a"}) == ["AnyFileSystem"]
    assert denied_by(found, ACTIONS[0], {}) == []


def test_of_a_job(tmp_path):
    app = cdk.App(analytics_reporting=False, outdir=str(tmp_path / "cdk.out"))
    stack = cdk.Stack(app, "Training", env=cdk.Environment(account="111111111111", region="us-east-1"))
    (tmp_path / "train.py").touch()
    key = kms.Key.from_key_arn(stack, "Key", KEY)
    network = dt.TrainingNetwork(stack, "Network")
    corpus = dt.LustreFileSystem(stack, "Corpus", network=network, storage_capacity=cdk.Size.gibibytes(1200))
    job = dt.DistributedTrainingJob(
        stack,
        "Job",
        source=dt.SourceCode.from_directory(tmp_path, entry_script="train.py"),
        instances=dt.Instances("ml.c7i.xlarge", count=2),
        channels=[corpus.channel("train")],
        encryption_key=key,
        network_isolation=True,
    )
    guardrails = job.guardrails
    assert job.guardrails is guardrails
    document = stack.resolve(guardrails.managed_policy.document)
    conditions = {statement["Sid"]: statement["Condition"] for statement in document["Statement"]}
    assert conditions["OtherSubnets"] == {
        "ForAnyValue:StringNotEquals": {"sagemaker:VpcSubnets": [stack.resolve(network.subnet.subnet_id)]}
    }
    assert conditions["OtherInstanceTypes"]["ForAnyValue:StringNotEquals"]["sagemaker:InstanceTypes"] == [
        "ml.c7i.xlarge"
    ]
    assert conditions["OtherFileSystems"] == {
        "ForAnyValue:StringNotEquals": {"sagemaker:FileSystemId": [stack.resolve(corpus.file_system_id)]}
    }
    assert {"OtherVolumeKmsKey", "OtherOutputKmsKey", "WithoutNetworkIsolation"} <= set(conditions)
    assert "WithoutInterContainerTrafficEncryption" not in conditions
    app.synth()
