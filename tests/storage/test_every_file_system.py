"""What file systems of both kinds have in common."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Match, Template

import cdk_distributed_training as dt

KINDS = {
    dt.EfsFileSystem: {},
    dt.LustreFileSystem: {"storage_capacity": cdk.Size.gibibytes(2400)},
}


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def file_system(request):
    stack = cdk.Stack(cdk.App(), "S")
    network = dt.TrainingNetwork(stack, "Network", interface_endpoints=[], flow_log=False)
    return request.param(stack, "Files", network=network, **KINDS[request.param])


def test_is_a_peer_of_other_groups(file_system):
    stack = cdk.Stack.of(file_system)
    login = ec2.SecurityGroup(stack, "Login", vpc=file_system.network.vpc)
    login.connections.allow_from(file_system, ec2.Port.tcp(2022))
    (group,) = file_system.connections.security_groups
    Template.from_stack(stack).has_resource_properties(
        "AWS::EC2::SecurityGroupIngress",
        Match.object_like({"FromPort": 2022, "SourceSecurityGroupId": stack.resolve(group.security_group_id)}),
    )


def test_fits_the_interface_of_its_kind(file_system):
    interface = dt.IEfsFileSystem if isinstance(file_system, dt.EfsFileSystem) else dt.ILustreFileSystem
    assert isinstance(file_system, interface)


def test_its_channels_lie_in_its_network(file_system):
    channel = file_system.channel("train", directory_path="/corpus", access_mode="rw")
    assert (channel.channel_name, channel.directory_path, channel.access_mode) == ("train", "/corpus", "rw")
    assert channel.network is file_system.network
    with pytest.raises(dt.ConfigurationError, match="corpus") as refused:
        file_system.channel("train", directory_path="corpus", access_mode="r")
    assert len(refused.value.findings) == 2
