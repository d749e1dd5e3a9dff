"""Failures that people reported of networks and file systems for training, and what becomes of each here.

What other test modules show already is not repeated: self rules by group id, ports, sizes, zones, endpoints.
"""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_sagemaker as sagemaker
from aws_cdk.assertions import Annotations, Match, Template

import cdk_distributed_training as dt

ENVIRONMENT = cdk.Environment(account="111111111111", region="us-east-1")
Kind = dt.LustreDeploymentType
GIB = cdk.Size.gibibytes


def new_stack(*, known: bool = True) -> cdk.Stack:
    return cdk.Stack(cdk.App(), "S", env=ENVIRONMENT if known else None)


def rules_of(template: Template, kind: str) -> list[dict]:
    return [found["Properties"] for found in template.find_resources(f"AWS::EC2::SecurityGroup{kind}").values()]


def test_an_egress_to_anywhere_does_not_replace_the_one_to_the_group():
    """A rule for 0.0.0.0/0 does not match EFA's traffic, so the rule to the group is never left out beside it."""
    stack = new_stack()
    vpc = ec2.Vpc(stack, "Vpc", availability_zones=["us-east-1a"])
    group = ec2.SecurityGroup(stack, "Group", vpc=vpc)  # allows everything out
    dt.TrainingNetwork(stack, "Network", vpc=vpc, node_security_group=group)
    template = Template.from_stack(stack)
    identifier = stack.resolve(group.security_group_id)
    for kind, peer in (("Ingress", "Source"), ("Egress", "Destination")):
        (rule,) = rules_of(template, kind)
        assert (rule["GroupId"], rule[f"{peer}SecurityGroupId"], rule["IpProtocol"]) == (identifier, identifier, "-1")


def test_rules_by_address_are_no_substitute_on_a_group_that_may_not_be_changed():
    stack = new_stack()
    group = ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-1", mutable=False)
    dt.TrainingNetwork(stack, "Network", node_security_group=group)
    (warning,) = Annotations.from_stack(stack).find_warning("*", Match.string_like_regexp("DT109"))
    assert "by security group id and not by address range" in str(warning.entry.data)


def test_a_users_group_never_takes_the_place_of_the_nodes_own():
    stack = new_stack()
    mine = ec2.SecurityGroup.from_security_group_id(stack, "Mine", "sg-1")
    network = dt.TrainingNetwork(stack, "Network", additional_security_groups=[mine])
    assert network.security_groups[0] is network.node_security_group
    assert len(network.security_groups) == 2


def test_nodes_and_file_system_never_spread_over_zones():
    stack = new_stack()
    vpc = ec2.Vpc(stack, "Vpc", availability_zones=["us-east-1a", "us-east-1b", "us-east-1c"])
    network = dt.TrainingNetwork(stack, "Network", vpc=vpc, availability_zone="us-east-1c")
    dt.LustreFileSystem(stack, "Corpus", network=network, storage_capacity=GIB(1200))
    (found,) = Template.from_stack(stack).find_resources("AWS::FSx::FileSystem").values()
    assert found["Properties"]["SubnetIds"] == [stack.resolve(vpc.private_subnets[2].subnet_id)]


def test_asking_a_vpc_for_a_zone_that_it_lacks_is_no_empty_selection():
    """CDK selects no subnet and says nothing; a job without a subnet fails much later."""
    stack = new_stack(known=False)
    with pytest.raises(dt.ConfigurationError, match="DT106"):
        dt.TrainingNetwork(stack, "N", vpc=ec2.Vpc(stack, "Vpc", max_azs=3), availability_zone="us-west-2a")


def test_three_zones_wanted_and_two_given():
    stack = new_stack(known=False)
    vpc = ec2.Vpc(stack, "Vpc", max_azs=3)  # two, because the stack does not know its region
    network = dt.TrainingNetwork(stack, "Network", vpc=vpc)
    assert stack.resolve(network.availability_zone) == {"Fn::Select": [0, {"Fn::GetAZs": ""}]}


def test_a_vpc_that_a_cluster_shares():
    stack = new_stack()
    vpc = ec2.Vpc(stack, "Vpc", availability_zones=["us-east-1a", "us-east-1b"])
    network = dt.TrainingNetwork(stack, "Network", vpc=vpc, availability_zone="us-east-1b")
    sagemaker.CfnCluster(
        stack,
        "Cluster",
        vpc_config=sagemaker.CfnCluster.VpcConfigProperty(
            security_group_ids=[group.security_group_id for group in network.security_groups],
            subnets=[network.subnet.subnet_id],
        ),
    )
    template = Template.from_stack(stack)
    template.has_resource_properties(
        "AWS::SageMaker::Cluster", {"VpcConfig": {"Subnets": [stack.resolve(network.subnet.subnet_id)]}}
    )


SIZES = [
    (Kind.SCRATCH_1, None, 3600, True),
    (Kind.SCRATCH_2, None, 3600, False),
    (Kind.SCRATCH_2, None, 1200, True),
    (Kind.PERSISTENT_2, 200, 2400, False),
    (Kind.PERSISTENT_2, 1000, 1_228_800, True),
    (Kind.PERSISTENT_1, 125, 2400, False),
    (Kind.PERSISTENT_1, 200, 2400, True),
    (Kind.PERSISTENT_2, None, 0, False),
    (Kind.PERSISTENT_2, None, 2400, True),
]


@pytest.mark.parametrize(("kind", "throughput", "size", "fits"), SIZES)
def test_sizes_and_throughputs_that_fsx_refuses_only_at_deployment(kind, throughput, size, fits):
    stack = new_stack()
    network = dt.TrainingNetwork(stack, "Network", interface_endpoints=[], flow_log=False)
    given = {
        "network": network,
        "deployment_type": kind,
        "per_unit_storage_throughput": throughput,
        "storage_capacity": GIB(size),
    }
    if fits:
        dt.LustreFileSystem(stack, "Corpus", **given)
        return
    with pytest.raises(dt.ConfigurationError) as caught:
        dt.LustreFileSystem(stack, "Corpus", **given)
    assert all(finding.allowed and finding.fix and finding.source for finding in caught.value.findings)


@pytest.mark.parametrize("given", [{"import_path": "s3://books"}, {"auto_import_policy": "NEW"}])
def test_what_data_repositories_replaced_cannot_be_given(given):
    stack = new_stack()
    network = dt.TrainingNetwork(stack, "Network", interface_endpoints=[], flow_log=False)
    with pytest.raises(TypeError, match=next(iter(given))):
        dt.LustreFileSystem(stack, "Corpus", network=network, storage_capacity=GIB(1200), **given)


def test_an_imported_file_system_knows_the_name_that_clients_mount():
    stack = new_stack()
    network = dt.TrainingNetwork(stack, "Network", interface_endpoints=[], flow_log=False)
    corpus = dt.LustreFileSystem.from_attributes(
        stack,
        "Corpus",
        network=network,
        file_system_id="fs-0123456789",
        mount_name="abcdefgh",
        security_group=ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-1"),
    )
    assert corpus.mount_name == "abcdefgh"
    with pytest.raises(dt.ConfigurationError, match="DT221"):
        corpus.channel("train", directory_path="/fsx/data")


def test_stateful_resources_keep_their_logical_ids():
    """A changed id replaces the file system, and its data with it."""
    stack = new_stack(known=False)
    network = dt.TrainingNetwork(stack, "Network")
    dt.LustreFileSystem(stack, "Corpus", network=network, storage_capacity=GIB(1200))
    made = set(Template.from_stack(stack).to_json()["Resources"])
    assert {
        "Corpus21BA1D5B",
        "CorpusSecurityGroup7EED7761",
        "NetworkVpcFAC8F4A5",
        "NetworkSubnet8D9C3287",
        "NetworkRouteTableAC67A54F",
        "NetworkNodeSecurityGroup642EFBE4",
        "NetworkS3EndpointDED08CEB",
        "NetworkFlowLogRecords4C7390BC",
    } <= made
