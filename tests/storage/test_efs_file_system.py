"""EFS file systems and their channels."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_efs as efs
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk.assertions import Annotations, Match, Template

import cdk_distributed_training as dt


def new_network() -> tuple[cdk.Stack, dt.TrainingNetwork]:
    # CDK's flag for new projects, which refuses mounts without IAM's signature
    stack = cdk.Stack(cdk.App(context={"@aws-cdk/aws-efs:denyAnonymousAccess": True}), "S")
    return stack, dt.TrainingNetwork(stack, "Network", interface_endpoints=[], flow_log=False)


def role_in(stack) -> iam.Role:
    return iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))


@pytest.fixture(scope="module")
def usual() -> tuple[cdk.Stack, dt.TrainingNetwork, Template]:
    stack, network = new_network()
    shared = dt.EfsFileSystem(stack, "Shared", network=network)
    stack.entry = shared.channel("train", directory_path="/corpus").bind(role_in(stack))
    return stack, network, Template.from_stack(stack)


def test_encrypted_kept_and_backed_up(usual):
    _, _, template = usual
    (found,) = template.find_resources("AWS::EFS::FileSystem").values()
    assert found["Properties"]["Encrypted"] is True
    assert found["Properties"]["ThroughputMode"] == "elastic"
    assert found["Properties"]["BackupPolicy"] == {"Status": "ENABLED"}
    assert (found["DeletionPolicy"], found["UpdateReplacePolicy"]) == ("Retain", "Retain")


def test_nothing_refuses_sagemakers_mount(usual):
    _, _, template = usual
    (found,) = template.find_resources("AWS::EFS::FileSystem").values()
    assert "FileSystemPolicy" not in found["Properties"]


def test_its_mount_target_is_in_the_training_subnet(usual):
    stack, network, template = usual
    (target,) = template.find_resources("AWS::EFS::MountTarget").values()
    assert target["Properties"]["SubnetId"] == stack.resolve(network.subnet.subnet_id)


def test_nfs_is_open_from_the_nodes_and_nothing_else(usual):
    stack, network, template = usual
    nodes = stack.resolve(network.node_security_group.security_group_id)
    for kind, peer in (("Ingress", "Source"), ("Egress", "Destination")):
        rules = [rule["Properties"] for rule in template.find_resources(f"AWS::EC2::SecurityGroup{kind}").values()]
        (nfs,) = [rule for rule in rules if rule.get("FromPort") == 2049]
        assert (nfs["IpProtocol"], nfs["ToPort"]) == ("tcp", 2049)
        assert (nfs["SourceSecurityGroupId"] if kind == "Ingress" else nfs["GroupId"]) == nodes
        assert nfs["GroupId"] != nfs[f"{peer}SecurityGroupId"]


def test_the_channel(usual):
    stack, _, template = usual
    source = stack.entry["DataSource"]["FileSystemDataSource"]
    (file_system,) = template.find_resources("AWS::EFS::FileSystem")
    assert stack.resolve(source) == {
        "FileSystemId": {"Ref": file_system},
        "FileSystemType": "EFS",
        "DirectoryPath": "/corpus",
        "FileSystemAccessMode": "ro",
    }
    (policy,) = template.find_resources("AWS::IAM::Policy").values()
    granted = [
        action
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        for action in ([statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"])
    ]
    assert granted == [
        "elasticfilesystem:DescribeFileSystems",
        "elasticfilesystem:DescribeMountTargets",
        "elasticfilesystem:ClientMount",
    ]


def test_writing_takes_its_leave():
    stack, network = new_network()
    channel = dt.EfsFileSystem(stack, "Shared", network=network).channel("out", access_mode="rw")
    channel.bind(role_in(stack))
    assert channel.network is network
    assert "elasticfilesystem:ClientWrite" in str(Template.from_stack(stack).find_resources("AWS::IAM::Policy"))


@pytest.mark.parametrize(("given", "rule"), [({"directory_path": "corpus"}, "DT220"), ({"access_mode": "r"}, "DT222")])
def test_channels_that_cannot_be_mounted(given, rule):
    stack, network = new_network()
    with pytest.raises(dt.ConfigurationError, match=rule):
        dt.EfsFileSystem(stack, "Shared", network=network).channel("train", **given)


def test_a_directory_that_is_a_token():
    stack, network = new_network()
    path = cdk.CfnParameter(stack, "Path").value_as_string
    entry = dt.EfsFileSystem(stack, "Shared", network=network).channel("t", directory_path=path).bind(role_in(stack))
    assert stack.resolve(entry["DataSource"]["FileSystemDataSource"]["DirectoryPath"]) == {"Ref": "Path"}


def test_every_property_reaches_the_resource():
    stack, network = new_network()
    key = kms.Key(stack, "Key")
    dt.EfsFileSystem(
        stack,
        "Shared",
        network=network,
        encryption_key=key,
        throughput_mode=efs.ThroughputMode.PROVISIONED,
        provisioned_throughput=cdk.Size.mebibytes(256),
        performance_mode=efs.PerformanceMode.MAX_IO,
        lifecycle_policy=efs.LifecyclePolicy.AFTER_30_DAYS,
        automatic_backups=False,
        removal_policy=cdk.RemovalPolicy.DESTROY,
    )
    (found,) = Template.from_stack(stack).find_resources("AWS::EFS::FileSystem").values()
    properties = found["Properties"]
    assert properties["KmsKeyId"] == stack.resolve(key.key_arn)
    assert (properties["ThroughputMode"], properties["ProvisionedThroughputInMibps"]) == ("provisioned", 256)
    assert properties["PerformanceMode"] == "maxIO"
    assert properties["LifecyclePolicies"] == [{"TransitionToIA": "AFTER_30_DAYS"}]
    assert properties.get("BackupPolicy") in (None, {"Status": "DISABLED"})
    assert (found["DeletionPolicy"], found["UpdateReplacePolicy"]) == ("Delete", "Delete")


@pytest.mark.parametrize(
    "given",
    [
        {"throughput_mode": efs.ThroughputMode.PROVISIONED},
        {"provisioned_throughput": cdk.Size.mebibytes(1)},
    ],
)
def test_a_throughput_goes_with_its_mode(given):
    stack, network = new_network()
    with pytest.raises(dt.ConfigurationError, match="DT295"):
        dt.EfsFileSystem(stack, "Shared", network=network, **given)


@pytest.mark.parametrize("mutable", [True, False])
def test_one_that_exists(mutable):
    stack, network = new_network()
    group = ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-1", mutable=mutable)
    existing = efs.FileSystem.from_file_system_attributes(
        stack, "Existing", file_system_id="fs-0123456789abcdef0", security_group=group
    )
    shared = dt.EfsFileSystem.from_file_system(
        stack, "Shared", network=network, file_system=existing, create_mount_target=True
    )
    assert isinstance(shared, dt.IEfsFileSystem)
    assert shared.channel("t").bind(role_in(stack))["DataSource"]["FileSystemDataSource"]["FileSystemId"] == (
        "fs-0123456789abcdef0"
    )
    template = Template.from_stack(stack)
    template.has_resource_properties("AWS::EFS::MountTarget", {"SecurityGroups": ["sg-1"]})
    into = [
        rule["Properties"]
        for rule in template.find_resources("AWS::EC2::SecurityGroupIngress").values()
        if rule["Properties"]["GroupId"] == "sg-1"
    ]
    assert len(into) == (1 if mutable else 0)
    warnings = [str(one.entry.data) for one in Annotations.from_stack(stack).find_warning("*", Match.any_value())]
    if not mutable:
        assert "tcp 2049 in between sg-1 and the group S/Network/NodeSecurityGroup" in warnings[0]


def test_metrics():
    stack, network = new_network()
    shared = dt.EfsFileSystem(stack, "Shared", network=network)
    for metric, name in (
        (shared.metric_data_read_io_bytes(), "DataReadIOBytes"),
        (shared.metric_data_write_io_bytes(), "DataWriteIOBytes"),
        (shared.metric_percent_io_limit(), "PercentIOLimit"),
    ):
        assert (metric.namespace, metric.metric_name) == ("AWS/EFS", name)


def test_in_another_stack_than_the_network():
    app = cdk.App()
    base, data = cdk.Stack(app, "Base"), cdk.Stack(app, "Data")
    network = dt.TrainingNetwork(base, "Network", interface_endpoints=[])
    dt.EfsFileSystem(data, "Shared", network=network)
    app.synth()
    assert [stack.node.id for stack in data.dependencies] == ["Base"]
    assert not base.dependencies
