"""What several networks and file systems share, and EC2 makes once only."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Annotations, Match, Template

import cdk_distributed_training as dt

SIZE = cdk.Size.gibibytes(1200)


def vpc_in(stack) -> ec2.IVpc:
    return ec2.Vpc.from_vpc_attributes(
        stack,
        "Vpc",
        vpc_id="vpc-1",
        availability_zones=["us-east-1a", "us-east-1b"],
        private_subnet_ids=["subnet-a", "subnet-b"],
        private_subnet_route_table_ids=["rtb-a", "rtb-b"],
    )


def group_in(stack, id: str = "Group", group: str = "sg-1", **props) -> ec2.ISecurityGroup:
    return ec2.SecurityGroup.from_security_group_id(stack, id, group, allow_all_outbound=False, **props)


def rules_of(*stacks) -> list[tuple]:
    found = []
    for stack in stacks:
        template = Template.from_stack(stack)
        for kind, peer in (("Ingress", "Source"), ("Egress", "Destination")):
            for rule in template.find_resources(f"AWS::EC2::SecurityGroup{kind}").values():
                props = rule["Properties"]
                names = (props["GroupId"], props[f"{peer}SecurityGroupId"])
                found.append((kind, str(names), props["IpProtocol"], props.get("FromPort")))
    return sorted(found, key=str)


def test_two_networks_on_one_brought_group():
    stack = cdk.Stack(cdk.App(), "S")
    vpc = vpc_in(stack)
    # two references to the same group
    dt.TrainingNetwork(stack, "One", vpc=vpc, node_security_group=group_in(stack))
    dt.TrainingNetwork(stack, "Two", vpc=vpc, node_security_group=group_in(stack, "Again"))
    assert [rule[0] for rule in rules_of(stack)] == ["Egress", "Ingress"]


def test_in_two_stacks_too():
    app = cdk.App()
    first, second = cdk.Stack(app, "First"), cdk.Stack(app, "Second")
    for stack in (first, second):
        dt.TrainingNetwork(stack, "Network", vpc=vpc_in(stack), node_security_group=group_in(stack))
    app.synth()
    assert len(rules_of(first)) == 2
    assert "Resources" not in Template.from_stack(second).to_json()


def test_two_apps_do_not_know_each_other():
    for _ in range(2):
        stack = cdk.Stack(cdk.App(), "S")
        dt.TrainingNetwork(stack, "Network", vpc=vpc_in(stack), node_security_group=group_in(stack))
        assert len(rules_of(stack)) == 2


def test_two_file_systems_in_one_brought_group():
    stack = cdk.Stack(cdk.App(), "S")
    network = dt.TrainingNetwork(stack, "Network", vpc=vpc_in(stack))
    servers = group_in(stack, "Servers", "sg-servers")
    for name in ("One", "Two"):
        dt.LustreFileSystem(stack, name, network=network, storage_capacity=SIZE, security_group=servers)
    rules = rules_of(stack)
    assert len(rules) == len(set(rules)) == 2 + 12
    for found in Template.from_stack(stack).find_resources("AWS::FSx::FileSystem").values():
        assert len(found["DependsOn"]) == 8


def test_rules_that_the_groups_owner_made_are_left():
    stack = cdk.Stack(cdk.App(), "S")
    vpc = ec2.Vpc(stack, "Vpc", max_azs=1)
    group = ec2.SecurityGroup(stack, "Group", vpc=vpc, allow_all_outbound=False)
    group.connections.allow_internally(ec2.Port.all_traffic())
    dt.TrainingNetwork(stack, "Network", vpc=vpc, node_security_group=group)
    assert [rule[0] for rule in rules_of(stack)] == ["Egress", "Ingress"]


def test_a_second_private_name_for_a_service_is_refused():
    stack = cdk.Stack(cdk.App(), "S")
    vpc = vpc_in(stack)
    services = [ec2.InterfaceVpcEndpointAwsService.STS]
    dt.TrainingNetwork(stack, "One", vpc=vpc, interface_endpoints=services)
    with pytest.raises(dt.ConfigurationError, match=r"sts, which S/One makes already.*DT155"):
        dt.TrainingNetwork(stack, "Two", vpc=vpc, interface_endpoints=services)
    dt.TrainingNetwork(stack, "Three", vpc=vpc).add_interface_endpoint("Sts", services[0], private_dns_enabled=False)


def test_a_second_route_to_s3_is_refused():
    stack = cdk.Stack(cdk.App(), "S")
    vpc = vpc_in(stack)
    dt.TrainingNetwork(stack, "One", vpc=vpc, s3_gateway_endpoint=True)
    dt.TrainingNetwork(stack, "Other", vpc=vpc, s3_gateway_endpoint=True, availability_zone="us-east-1b")
    with pytest.raises(dt.ConfigurationError, match="DT155"):
        dt.TrainingNetwork(stack, "Two", vpc=vpc, s3_gateway_endpoint=True)


def test_twice_in_one_stack():
    stack = cdk.Stack(cdk.App(), "S")
    for name in ("One", "Two"):
        dt.TrainingNetwork(stack, name)
    template = Template.from_stack(stack)
    template.resource_count_is("AWS::EC2::VPC", 2)
    template.resource_count_is("AWS::Lambda::Function", 1)


def test_more_rules_than_a_group_can_have():
    stack = cdk.Stack(cdk.App(), "S")
    network = dt.TrainingNetwork(stack, "Network", interface_endpoints=[], flow_log=False)
    for number in range(31):
        network.allow_lustre(cdk.Stack(stack, f"N{number}"), group_in(stack, f"G{number}", f"sg-{number}"))
    warnings = Annotations.from_stack(stack).find_warning("*", Match.any_value())
    assert [found for found in warnings if "DT154" in str(found.entry.data)]


def test_further_groups_are_opened_on_request():
    stack = cdk.Stack(cdk.App(), "S")
    others = [group_in(stack, "A", "sg-a"), group_in(stack, "B", "sg-b", mutable=False)]
    dt.TrainingNetwork(
        stack, "Network", vpc=vpc_in(stack), additional_security_groups=others, open_additional_security_groups=True
    )
    of_a = [rule for rule in rules_of(stack) if "sg-a" in rule[1]]
    assert [(rule[0], rule[2]) for rule in of_a] == [("Egress", "-1"), ("Ingress", "-1")]
    assert not [rule for rule in rules_of(stack) if "sg-b" in rule[1]]
    (warning,) = Annotations.from_stack(stack).find_warning("*", Match.any_value())
    assert "all traffic in and out between sg-b and sg-b" in str(warning.entry.data)


def test_each_stage_has_rules_of_its_own():
    app = cdk.App()
    found = []
    for name in ("Beta", "Production"):
        stack = cdk.Stack(cdk.Stage(app, name), "S")
        network = dt.TrainingNetwork(stack, "Network", vpc=vpc_in(stack), node_security_group=group_in(stack))
        servers = group_in(stack, "Servers", "sg-servers")
        dt.LustreFileSystem(stack, "Corpus", network=network, storage_capacity=SIZE, security_group=servers)
        found.append(rules_of(stack))
    assert found[0] == found[1]
    assert len(found[0]) == 2 + 12


def test_stacks_that_share_a_brought_group_are_deployed_in_order():
    app = cdk.App()
    base, first, second = (cdk.Stack(app, name) for name in ("Base", "First", "Second"))
    network = dt.TrainingNetwork(base, "Network", interface_endpoints=[])
    for stack in (first, second):
        servers = group_in(stack, "Servers", "sg-servers")
        dt.LustreFileSystem(stack, "Corpus", network=network, storage_capacity=SIZE, security_group=servers)
    app.synth()
    assert [stack.node.id for stack in first.dependencies] == ["Base"]
    assert "First" in [stack.node.id for stack in second.dependencies]
    assert not [rule for rule in rules_of(second) if rule in rules_of(first)]
