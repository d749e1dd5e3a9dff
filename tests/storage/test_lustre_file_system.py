"""The file system resource, its ports, and what becomes of its data."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk.assertions import Annotations, Match, Template

import cdk_distributed_training as dt

Kind = dt.LustreDeploymentType
SIZE = cdk.Size.gibibytes(2400)


def stack_with(**props) -> cdk.Stack:
    stack = cdk.Stack(cdk.App(), "S")
    network = dt.TrainingNetwork(stack, "Network", interface_endpoints=[], flow_log=False)
    dt.LustreFileSystem(stack, "Corpus", network=network, **{"storage_capacity": SIZE, **props})
    return stack


def file_system(stack) -> dict:
    (found,) = Template.from_stack(stack).find_resources("AWS::FSx::FileSystem").values()
    return found


def rules_between(template: Template, kind: str, group: str, peer: str) -> set[tuple]:
    """Protocol and ports of the rules of one group that name another, both by description."""
    ids = {
        resource["Properties"]["GroupDescription"].split(":")[0]: {"Fn::GetAtt": [logical_id, "GroupId"]}
        for logical_id, resource in template.find_resources("AWS::EC2::SecurityGroup").items()
    }
    side = {"Ingress": "SourceSecurityGroupId", "Egress": "DestinationSecurityGroupId"}[kind]
    rules = [rule["Properties"] for rule in template.find_resources(f"AWS::EC2::SecurityGroup{kind}").values()]
    return {
        (rule["IpProtocol"], rule.get("FromPort"), rule.get("ToPort"))
        for rule in rules
        if rule["GroupId"] == ids[group] and rule.get(side) == ids[peer]
    }


@pytest.fixture(scope="module")
def template() -> Template:
    return Template.from_stack(stack_with())


def test_it_lies_in_exactly_the_networks_subnet(template):
    (subnet,) = template.find_resources("AWS::EC2::Subnet")
    template.has_resource_properties(
        "AWS::FSx::FileSystem",
        {
            "FileSystemType": "LUSTRE",
            "FileSystemTypeVersion": "2.15",
            "StorageCapacity": 2400,
            "StorageType": "SSD",
            "SubnetIds": [{"Ref": subnet}],
            "SecurityGroupIds": [Match.any_value()],
            "LustreConfiguration": {
                "DeploymentType": "PERSISTENT_2",
                "PerUnitStorageThroughput": 125,
                "DataCompressionType": "NONE",
                "CopyTagsToBackups": True,
            },
        },
    )


LUSTRE_PORTS = {("tcp", 988, 988), ("tcp", 1018, 1023)}
SERVERS, NODES = "FSx for Lustre", "Training nodes"


@pytest.mark.parametrize("kind", ["Ingress", "Egress"])
@pytest.mark.parametrize(("group", "peer"), [(SERVERS, SERVERS), (SERVERS, NODES), (NODES, SERVERS)])
def test_lustre_ports_both_ways_on_both_groups(template, kind, group, peer):
    assert rules_between(template, kind, group, peer) == LUSTRE_PORTS


def test_the_file_servers_have_no_other_way_out(template):
    (group,) = template.find_resources(
        "AWS::EC2::SecurityGroup", {"Properties": {"GroupDescription": Match.string_like_regexp(f"^{SERVERS}")}}
    ).values()
    (egress,) = group["Properties"]["SecurityGroupEgress"]
    assert egress["CidrIp"] == "255.255.255.255/32"


def test_nodes_keep_their_rules_to_themselves(template):
    for kind in ("Ingress", "Egress"):
        assert rules_between(template, kind, NODES, NODES) == {("-1", None, None)}


def test_it_is_made_after_its_ports_are_open(template):
    (found,) = template.find_resources("AWS::FSx::FileSystem").values()
    resources = template.to_json()["Resources"]
    kinds = {resources[logical_id]["Type"] for logical_id in found["DependsOn"]}
    assert kinds == {"AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress"}
    assert len(found["DependsOn"]) == 8


@pytest.mark.parametrize(
    ("kind", "policy", "kept"),
    [
        (Kind.PERSISTENT_2, None, "Retain"),
        (Kind.PERSISTENT_1, None, "Retain"),
        (Kind.SCRATCH_2, None, "Delete"),
        (Kind.SCRATCH_1, None, "Delete"),
        (Kind.PERSISTENT_2, cdk.RemovalPolicy.DESTROY, "Delete"),
        (Kind.SCRATCH_2, cdk.RemovalPolicy.RETAIN, "Retain"),
    ],
)
def test_one_removal_policy_sets_both(kind, policy, kept):
    found = file_system(stack_with(deployment_type=kind, removal_policy=policy))
    assert (found["DeletionPolicy"], found["UpdateReplacePolicy"]) == (kept, kept)


@pytest.mark.parametrize(
    ("kind", "storage", "throughput"),
    [
        (Kind.PERSISTENT_1, dt.LustreStorageType.SSD, 50),
        (Kind.PERSISTENT_1, dt.LustreStorageType.HDD, 12),
        (Kind.SCRATCH_2, dt.LustreStorageType.SSD, None),
    ],
)
def test_the_smallest_throughput_by_default(kind, storage, throughput):
    size = cdk.Size.gibibytes(6000 if storage is dt.LustreStorageType.HDD else 2400)
    found = file_system(stack_with(deployment_type=kind, storage_type=storage, storage_capacity=size))
    assert found["Properties"]["LustreConfiguration"].get("PerUnitStorageThroughput") == throughput


@pytest.mark.parametrize(("cache", "rendered"), [(None, "NONE"), (False, "NONE"), (True, "READ")])
def test_hard_disks_always_say_whether_they_have_a_cache(cache, rendered):
    found = file_system(
        stack_with(
            deployment_type=Kind.PERSISTENT_1,
            storage_type=dt.LustreStorageType.HDD,
            storage_capacity=cdk.Size.gibibytes(6000),
            drive_cache=cache,
        )
    )
    assert found["Properties"]["LustreConfiguration"]["DriveCacheType"] == rendered


def test_every_property_reaches_the_resource():
    stack = cdk.Stack(cdk.App(), "S")
    network = dt.TrainingNetwork(stack, "Network")
    key = kms.Key(stack, "Key")
    dt.LustreFileSystem(
        stack,
        "Corpus",
        network=network,
        storage_capacity=cdk.Size.tebibytes(1228800 / 1024),
        per_unit_storage_throughput=1000,
        data_compression=True,
        encryption_key=key,
        automatic_backup_retention=cdk.Duration.days(7),
        copy_tags_to_backups=False,
        weekly_maintenance_start_time="7:03:00",
        file_system_type_version="2.12",
    )
    properties = file_system(stack)["Properties"]
    assert properties["StorageCapacity"] == 1228800
    assert properties["FileSystemTypeVersion"] == "2.12"
    assert properties["KmsKeyId"] == stack.resolve(key.key_arn)
    assert properties["LustreConfiguration"] == {
        "DeploymentType": "PERSISTENT_2",
        "PerUnitStorageThroughput": 1000,
        "DataCompressionType": "LZ4",
        "AutomaticBackupRetentionDays": 7,
        "CopyTagsToBackups": False,
        "WeeklyMaintenanceStartTime": "7:03:00",
    }


def test_tokens_are_not_judged():
    stack = cdk.Stack(cdk.App(), "S")
    network = dt.TrainingNetwork(stack, "Network")
    number = cdk.CfnParameter(stack, "Number", type="Number").value_as_number
    text = cdk.CfnParameter(stack, "Text").value_as_string
    dt.LustreFileSystem(
        stack,
        "Corpus",
        network=network,
        storage_capacity=cdk.Size.gibibytes(number),
        per_unit_storage_throughput=number,
        file_system_type_version=text,
        weekly_maintenance_start_time=text,
        automatic_backup_retention=cdk.Duration.days(number),
    )
    properties = file_system(stack)["Properties"]
    assert properties["StorageCapacity"] == {"Ref": "Number"}
    assert properties["FileSystemTypeVersion"] == {"Ref": "Text"}
    assert properties["LustreConfiguration"]["PerUnitStorageThroughput"] == {"Ref": "Number"}
    assert properties["LustreConfiguration"]["AutomaticBackupRetentionDays"] == {"Ref": "Number"}


def test_all_that_is_wrong_is_said_at_once():
    with pytest.raises(dt.ConfigurationError) as caught:
        stack_with(
            deployment_type=Kind.SCRATCH_2,
            storage_capacity=cdk.Size.gibibytes(3600),
            per_unit_storage_throughput=125,
            file_system_type_version="2.13",
            automatic_backup_retention=cdk.Duration.hours(36),
            weekly_maintenance_start_time="8:00:00",
            drive_cache=True,
            removal_policy=cdk.RemovalPolicy.SNAPSHOT,
        )
    rules = [finding.rule for finding in caught.value.findings]
    assert sorted(rules) == ["DT202", "DT203", "DT204", "DT206", "DT207", "DT208", "DT217"]


def test_a_key_for_scratch_is_refused():
    stack = cdk.Stack(cdk.App(), "S")
    network = dt.TrainingNetwork(stack, "Network")
    key = kms.Key(stack, "Key")
    with pytest.raises(dt.ConfigurationError, match="DT205"):
        dt.LustreFileSystem(
            stack, "F", network=network, storage_capacity=SIZE, deployment_type=Kind.SCRATCH_2, encryption_key=key
        )


def test_two_file_systems_on_one_network():
    stack = cdk.Stack(cdk.App(), "S")
    network = dt.TrainingNetwork(stack, "Network", interface_endpoints=[])
    for name in ("One", "Two"):
        dt.LustreFileSystem(stack, name, network=network, storage_capacity=SIZE)
    template = Template.from_stack(stack)
    template.resource_count_is("AWS::FSx::FileSystem", 2)
    template.resource_count_is("AWS::EC2::SecurityGroup", 3)
    template.resource_count_is("AWS::EC2::SecurityGroupIngress", 1 + 2 * 6)


def test_in_another_stack_than_the_network_and_a_third_one_reads_it():
    app = cdk.App()
    base, data, reader = (cdk.Stack(app, name) for name in ("Base", "Data", "Reader"))
    network = dt.TrainingNetwork(base, "Network", interface_endpoints=[])
    corpus = dt.LustreFileSystem(data, "Corpus", network=network, storage_capacity=SIZE)
    cdk.CfnOutput(reader, "Mount", value=f"{corpus.dns_name}@tcp:/{corpus.mount_name}")
    app.synth()
    assert [stack.node.id for stack in data.dependencies] == ["Base"]
    assert [stack.node.id for stack in reader.dependencies] == ["Data"]
    assert not base.dependencies
    template = Template.from_stack(data)
    template.resource_count_is("AWS::EC2::SecurityGroupIngress", 6)
    template.resource_count_is("AWS::EC2::SecurityGroupEgress", 6)


@pytest.mark.parametrize("mutable", [True, False])
def test_a_brought_security_group(mutable):
    stack = cdk.Stack(cdk.App(), "S")
    network = dt.TrainingNetwork(stack, "Network", interface_endpoints=[])
    group = ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-1", mutable=mutable)
    dt.LustreFileSystem(stack, "Corpus", network=network, storage_capacity=SIZE, security_group=group)
    ingress = Template.from_stack(stack).find_resources("AWS::EC2::SecurityGroupIngress").values()
    assert len([rule for rule in ingress if rule["Properties"]["GroupId"] == "sg-1"]) == (4 if mutable else 0)
    warnings = [str(found.entry.data) for found in Annotations.from_stack(stack).find_warning("*", Match.any_value())]
    if mutable:
        assert not warnings
    else:
        (warning,) = warnings
        assert "tcp 988 in and out between sg-1 and sg-1" in warning
        assert "tcp 1018-1023 in and out between sg-1 and the group S/Network/NodeSecurityGroup" in warning


def test_an_imported_one_opens_ports_and_knows_its_names():
    stack = cdk.Stack(cdk.App(), "S", env=cdk.Environment(account="111111111111", region="us-east-1"))
    network = dt.TrainingNetwork(stack, "Network", interface_endpoints=[])
    corpus = dt.LustreFileSystem.from_attributes(
        stack,
        "Corpus",
        network=network,
        file_system_id="fs-0123456789",
        mount_name="abcdefgh",
        security_group=ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-1"),
    )
    assert isinstance(corpus, dt.ILustreFileSystem)
    assert corpus.mount_name == "abcdefgh"
    assert corpus.dns_name.startswith("fs-0123456789.fsx.us-east-1.")
    Template.from_stack(stack).resource_count_is("AWS::EC2::SecurityGroupIngress", 1 + 6)


def test_an_imported_one_is_named_by_its_id():
    stack = cdk.Stack(cdk.App(), "S")
    network = dt.TrainingNetwork(stack, "Network")
    group = ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-1")
    with pytest.raises(dt.ConfigurationError, match="DT223"):
        dt.LustreFileSystem.from_attributes(
            stack, "F", network=network, file_system_id="corpus", mount_name="fsx", security_group=group
        )
    token = cdk.Fn.import_value("id")
    dt.LustreFileSystem.from_attributes(
        stack, "T", network=network, file_system_id=token, mount_name=token, security_group=group
    )


def test_metrics():
    stack = cdk.Stack(cdk.App(), "S")
    network = dt.TrainingNetwork(stack, "Network")
    corpus = dt.LustreFileSystem(stack, "Corpus", network=network, storage_capacity=SIZE)
    for metric, name in (
        (corpus.metric_data_read_bytes(), "DataReadBytes"),
        (corpus.metric_data_write_bytes(), "DataWriteBytes"),
        (corpus.metric_free_data_storage_capacity(), "FreeDataStorageCapacity"),
    ):
        assert (metric.namespace, metric.metric_name, metric.statistic) == ("AWS/FSx", name, "Sum")
        assert stack.resolve(metric.dimensions) == {"FileSystemId": stack.resolve(corpus.file_system_id)}


def test_two_syntheses_give_equal_bytes():
    first, second = (Template.from_stack(stack_with()).to_json() for _ in range(2))
    assert str(first) == str(second)
