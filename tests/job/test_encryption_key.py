"""One key for everything that a job stores."""

import json

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from tests.job.resolved import metadata_of

import cdk_distributed_training as dt


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("source")
    (folder / "train.py").touch()
    return dt.SourceCode.from_directory(folder, entry_script="train.py")


@pytest.fixture
def stack(tmp_path):
    app = cdk.App(analytics_reporting=False, outdir=str(tmp_path))
    return cdk.Stack(app, "Training", env=cdk.Environment(account="111111111111", region="us-east-1"))


def request(stack):
    return metadata_of(cdk.App.of(stack).synth(), "Training")["request"]


@pytest.mark.parametrize(("instance_type", "takes_key"), [("ml.c7i.xlarge", True), ("ml.p4d.24xlarge", False)])
def test_every_store(instance_type, takes_key, stack, source):
    key = kms.Key(stack, "Key")
    job = dt.DistributedTrainingJob(
        stack,
        "Job",
        source=source,
        instances=dt.Instances(instance_type),
        checkpoint=dt.CheckpointConfig(),
        encryption_key=key,
    )
    arn = stack.resolve(key.key_arn)
    found = request(stack)
    assert found["OutputDataConfig"]["KmsKeyId"] == arn
    assert found["ResourceConfig"].get("VolumeKmsKeyId") == (arn if takes_key else None)
    template = assertions.Template.from_stack(stack)
    (bucket,) = template.find_resources("AWS::S3::Bucket").values()
    (rule,) = bucket["Properties"]["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["ServerSideEncryptionByDefault"] == {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": arn}
    template.has_resource_properties(
        "AWS::Logs::LogGroup",
        {"KmsKeyId": arn, "LogGroupName": {"Fn::Join": assertions.Match.any_value()}},
    )
    (policy,) = (resource["Properties"]["KeyPolicy"] for resource in template.find_resources("AWS::KMS::Key").values())
    assert "logs.us-east-1" in json.dumps(policy)
    used = {
        action
        for statement in job.required_statements
        if statement["Resource"] == arn
        for action in ([statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"])
    }
    assert used >= {"kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey"}
    assert ("kms:CreateGrant" in used) is takes_key


def test_keys_of_their_own_come_first(stack, source):
    keys = [kms.Key(stack, name) for name in ("All", "Output", "Volume")]
    dt.DistributedTrainingJob(
        stack,
        "Job",
        source=source,
        instances=dt.Instances("ml.c7i.xlarge", volume_key=keys[2]),
        encryption_key=keys[0],
        output_key=keys[1],
    )
    found = request(stack)
    assert found["OutputDataConfig"]["KmsKeyId"] == stack.resolve(keys[1].key_arn)
    assert found["ResourceConfig"]["VolumeKmsKeyId"] == stack.resolve(keys[2].key_arn)


@pytest.mark.parametrize("key_first", [True, False])
def test_a_key_of_another_stack_makes_no_circle(key_first, source, tmp_path):
    app = cdk.App(analytics_reporting=False, outdir=str(tmp_path))
    names = ("Keys", "Training")
    stacks = {name: cdk.Stack(app, name) for name in (names if key_first else reversed(names))}
    dt.DistributedTrainingJob(
        stacks["Training"],
        "Job",
        source=source,
        instances=dt.Instances("ml.c7i.xlarge"),
        encryption_key=kms.Key(stacks["Keys"], "Key"),
    )
    app.synth()
    assert stacks["Training"].dependencies == [stacks["Keys"]]
    assert stacks["Keys"].dependencies == []


def test_without_a_key_the_bucket_has_the_accounts_own(stack, source):
    dt.DistributedTrainingJob(stack, "Job", source=source, instances=dt.Instances("ml.c7i.xlarge"))
    (bucket,) = assertions.Template.from_stack(stack).find_resources("AWS::S3::Bucket").values()
    (rule,) = bucket["Properties"]["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule == {"BucketKeyEnabled": True, "ServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms"}}


def with_execution_key(stack, source, key, **options):
    return dt.DistributedTrainingJob(
        stack, "Job", source=source, instances=dt.Instances("ml.c7i.xlarge"), execution_key=key, **options
    )


def key_statements(template, arn):
    """What policies of roles say about the key, by the logical id of the policy."""
    return {
        name: [
            (statement["Action"], statement["Condition"])
            for statement in policy["Properties"]["PolicyDocument"]["Statement"]
            if statement["Resource"] == arn
        ]
        for name, policy in template.find_resources("AWS::IAM::ManagedPolicy").items()
    }


@pytest.mark.parametrize("imported", [False, True])
def test_executions_are_encrypted(imported, stack, source):
    """A key made here, and one known by a token alone."""
    key = kms.Key.from_key_arn(stack, "Key", cdk.Fn.import_value("key")) if imported else kms.Key(stack, "Key")
    with_execution_key(stack, source, key)
    template, arn = assertions.Template.from_stack(stack), stack.resolve(key.key_arn)
    template.all_resources_properties(
        "AWS::StepFunctions::StateMachine",
        {
            "EncryptionConfiguration": {
                "KmsKeyId": arn,
                "Type": "CUSTOMER_MANAGED_KMS_KEY",
                "KmsDataKeyReusePeriodSeconds": 300,
            }
        },
    )
    template.has_resource_properties("AWS::Logs::LogGroup", {"KmsKeyId": arn})
    parts = ["arn:", {"Ref": "AWS::Partition"}, ":states:us-east-1:111111111111:stateMachine:*"]
    machines = {"kms:EncryptionContext:aws:states:stateMachineArn": {"Fn::Join": ["", parts]}}
    deliveries = {"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, ":logs:us-east-1:111111111111:*"]]}
    used = [statements for name, statements in key_statements(template, arn).items() if "StateMachine" in name]
    ours = [statements for statements in used if statements]
    assert ours == 2 * [
        [
            (["kms:Decrypt", "kms:GenerateDataKey"], {"StringLike": machines}),
            ("kms:GenerateDataKey", {"StringEquals": {"kms:EncryptionContext:SourceArn": deliveries}}),
        ]
    ]
    policies = [resource["Properties"]["KeyPolicy"] for resource in template.find_resources("AWS::KMS::Key").values()]
    assert ["delivery.logs.amazonaws.com" in json.dumps(policy) for policy in policies] == [True] * (not imported)


def test_who_reads_runs_may_decrypt_them(stack, source):
    key = kms.Key(stack, "Key")
    people = iam.Role(stack, "People", assumed_by=iam.AccountRootPrincipal())
    with_execution_key(stack, source, key).grants.read(people)
    assertions.Template.from_stack(stack).has_resource_properties(
        "AWS::IAM::Policy",
        {
            "PolicyDocument": {
                "Statement": assertions.Match.array_with(
                    [{"Action": "kms:Decrypt", "Effect": "Allow", "Resource": stack.resolve(key.key_arn)}]
                )
            }
        },
    )


def test_the_log_has_a_key_of_its_own_only_where_one_is_said(stack, source):
    everything, executions = kms.Key(stack, "Everything"), kms.Key(stack, "Executions")
    with_execution_key(stack, source, executions, encryption_key=everything)
    template = assertions.Template.from_stack(stack)
    template.has_resource_properties("AWS::Logs::LogGroup", {"KmsKeyId": stack.resolve(executions.key_arn)})
    assert json.dumps(template.find_resources("AWS::S3::Bucket")).count("Everything")


def test_executions_have_keys_of_the_services_unless_one_is_given(stack, source):
    with_execution_key(stack, source, None, encryption_key=kms.Key(stack, "Key"))
    machines = assertions.Template.from_stack(stack).find_resources("AWS::StepFunctions::StateMachine")
    assert not [machine for machine in machines.values() if "EncryptionConfiguration" in machine["Properties"]]


@pytest.mark.parametrize("bad", ["alias/mine", "arn:aws:kms:us-east-1:111111111111:key/1", 7])
def test_a_key_by_its_name_is_refused(bad, stack, source):
    with pytest.raises(dt.ConfigurationError, match="execution_key"):
        with_execution_key(stack, source, bad)
