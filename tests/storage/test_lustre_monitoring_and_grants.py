"""Alarms, metrics and grants of a file system, and file systems that exist."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Annotations, Match, Template

import cdk_distributed_training as dt

GIB = cdk.Size.gibibytes


def new(region: str | None = None, **props) -> tuple[cdk.Stack, dt.LustreFileSystem]:
    env = cdk.Environment(account="111111111111", region=region) if region else None
    stack = cdk.Stack(cdk.App(), "S", env=env)
    network = dt.TrainingNetwork(stack, "Network", interface_endpoints=[], flow_log=False)
    given = {"storage_capacity": GIB(1200), **props}
    return stack, dt.LustreFileSystem(stack, "Corpus", network=network, **given)


def test_an_alarm_at_a_tenth_of_the_capacity():
    stack, corpus = new()
    alarm = corpus.add_free_space_alarm(actions=[actions.SnsAction(sns.Topic(stack, "Topic"))])
    (found,) = Template.from_stack(stack).find_resources("AWS::CloudWatch::Alarm").values()
    assert found["Properties"]["Threshold"] == 120 * 2**30
    assert (found["Properties"]["Statistic"], found["Properties"]["Period"]) == ("Sum", 60)
    assert len(found["Properties"]["AlarmActions"]) == 1
    assert alarm.node.path == "S/Corpus/FreeSpaceAlarm"


def test_an_alarm_at_a_size():
    stack, corpus = new()
    corpus.add_free_space_alarm(below=GIB(10))
    Template.from_stack(stack).has_resource_properties("AWS::CloudWatch::Alarm", {"Threshold": 10 * 2**30})


def test_alarms_that_cannot_be():
    _, tiered = new(storage_capacity=None, storage_type=dt.LustreStorageType.INTELLIGENT_TIERING)
    with pytest.raises(dt.ConfigurationError, match="DT293"):
        tiered.add_free_space_alarm(below=GIB(1))
    stack = cdk.Stack(cdk.App(), "S")
    number = cdk.CfnParameter(stack, "Number", type="Number").value_as_number
    network = dt.TrainingNetwork(stack, "Network", interface_endpoints=[], flow_log=False)
    token = dt.LustreFileSystem(stack, "T", network=network, storage_capacity=GIB(number))
    with pytest.raises(dt.ConfigurationError, match="DT293"):
        token.add_free_space_alarm()
    token.add_free_space_alarm(below=GIB(100))


def test_metrics_by_cloudwatchs_names():
    _, corpus = new()
    found = {
        corpus.metric_data_read_operations().metric_name,
        corpus.metric_data_write_operations().metric_name,
        corpus.metric_metadata_operations().metric_name,
        corpus.metric("NetworkThroughputUtilization").metric_name,
    }
    assert found == {
        "DataReadOperations",
        "DataWriteOperations",
        "MetadataOperations",
        "NetworkThroughputUtilization",
    }
    # each disk reports once a minute: over a longer period the sum would count them several times
    assert corpus.metric_free_data_storage_capacity().period.to_minutes() == 1


@pytest.mark.parametrize(
    ("grant", "actions", "resources"),
    [
        ("describe", ["fsx:DescribeFileSystems"], 1),
        (
            "data_repository_tasks",
            [
                "fsx:CancelDataRepositoryTask",
                "fsx:CreateDataRepositoryTask",
                "fsx:DescribeDataRepositoryTasks",
                "fsx:TagResource",
            ],
            2,
        ),
        ("create_backup", ["fsx:CreateBackup", "fsx:DescribeBackups", "fsx:TagResource"], 2),
    ],
)
def test_grants(grant, actions, resources):
    stack, corpus = new()
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
    assert getattr(corpus.grants, grant)(role).success
    (policy,) = Template.from_stack(stack).find_resources("AWS::IAM::Policy").values()
    (statement,) = policy["Properties"]["PolicyDocument"]["Statement"]
    named = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
    assert named == actions
    listed = statement["Resource"] if isinstance(statement["Resource"], list) else [statement["Resource"]]
    assert len(listed) == resources


def imported(stack, network, id="Imported", **props):
    given = {
        "file_system_id": "fs-0123456789",
        "mount_name": "abcdefgh",
        "security_group": ec2.SecurityGroup.from_security_group_id(stack, f"{id}Group", "sg-1"),
    }
    return dt.LustreFileSystem.from_attributes(stack, id, network=network, **{**given, **props})


@pytest.mark.parametrize(
    ("zone", "nodes", "warned"),
    [
        ("us-east-1a", "us-east-1d", True),
        ("us-east-1d", "us-east-1d", False),
        (None, "us-east-1d", False),
        ("us-east-1a", None, False),
    ],
)
def test_an_existing_one_in_another_zone_is_warned_of(zone, nodes, warned):
    stack = cdk.Stack(cdk.App(), "S", env=cdk.Environment(account="111111111111", region="us-east-1"))
    network = dt.TrainingNetwork(stack, "Network", availability_zone=nodes, interface_endpoints=[], flow_log=False)
    imported(stack, network, availability_zone=zone)
    found = [str(one.entry.data) for one in Annotations.from_stack(stack).find_warning("*", Match.any_value())]
    assert bool(found) is warned
    assert all("DT291" in text for text in found)


def test_an_existing_one_with_efa_and_a_name_of_its_own():
    stack = cdk.Stack(cdk.App(), "S")
    network = dt.TrainingNetwork(stack, "Network", interface_endpoints=[], flow_log=False)
    corpus = imported(stack, network, efa=True, dns_name="corpus.example.com")
    assert corpus.dns_name == "corpus.example.com"
    rules = Template.from_stack(stack).find_resources("AWS::EC2::SecurityGroupIngress").values()
    assert {rule["Properties"]["IpProtocol"] for rule in rules} == {"-1"}


def test_one_that_cdks_own_construct_made():
    stack = cdk.Stack(cdk.App(), "S")
    network = dt.TrainingNetwork(stack, "Network", interface_endpoints=[], flow_log=False)
    made = fsx.LustreFileSystem(
        stack,
        "Made",
        vpc=network.vpc,
        vpc_subnet=network.subnet,
        storage_capacity_gib=1200,
        lustre_configuration={"deployment_type": fsx.LustreDeploymentType.SCRATCH_2},
    )
    corpus = dt.LustreFileSystem.from_file_system(stack, "Corpus", network=network, file_system=made)
    entry = corpus.channel("train").bind(iam.Role(stack, "R", assumed_by=iam.ServicePrincipal("x.amazonaws.com")))
    path = stack.resolve(entry["DataSource"]["FileSystemDataSource"]["DirectoryPath"])
    assert "LustreMountName" in str(path)
    for port in (988, 1018):
        Template.from_stack(stack).has_resource_properties("AWS::EC2::SecurityGroupEgress", {"FromPort": port})


@pytest.mark.parametrize(("region", "events", "refused"), [("eu-west-1", True, True), ("eu-west-1", False, False)])
def test_events_of_a_bucket_in_another_region(region, events, refused):
    stack, corpus = new("us-east-1")
    bucket = s3.Bucket.from_bucket_attributes(stack, "B", bucket_name="books", region=region)
    given = {"file_system_path": "/books", **({} if events else {"auto_import": []})}
    if refused:
        with pytest.raises(dt.ConfigurationError, match="DT218"):
            corpus.add_data_repository(bucket, **given)
    else:
        corpus.add_data_repository(bucket, **given)
