"""Security groups that somebody else made, which may or may not be changed."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Annotations, Match, Template

import cdk_distributed_training as dt


def stack_with_group(*, mutable: bool, allow_all_outbound: bool = False, **props) -> cdk.Stack:
    stack = cdk.Stack(cdk.App(), "S")
    group = ec2.SecurityGroup.from_security_group_id(
        stack, "Group", "sg-1", mutable=mutable, allow_all_outbound=allow_all_outbound
    )
    dt.TrainingNetwork(stack, "Network", node_security_group=group, interface_endpoints=[], **props)
    return stack


def warnings_of(stack) -> list[str]:
    return [str(found.entry.data) for found in Annotations.from_stack(stack).find_warning("*", Match.any_value())]


def test_a_mutable_group_gets_both_rules_to_itself():
    stack = stack_with_group(mutable=True)
    template = Template.from_stack(stack)
    for kind, peer in (("Ingress", "Source"), ("Egress", "Destination")):
        found = template.find_resources(f"AWS::EC2::SecurityGroup{kind}")
        (rule,) = [rule["Properties"] for rule in found.values()]
        assert (rule["GroupId"], rule[f"{peer}SecurityGroupId"], rule["IpProtocol"]) == ("sg-1", "sg-1", "-1")
    assert not warnings_of(stack)


def test_an_unchangeable_group_gets_nothing_but_a_warning_that_says_what_it_needs():
    stack = stack_with_group(mutable=False)
    template = Template.from_stack(stack)
    for kind in ("Ingress", "Egress"):
        template.resource_count_is(f"AWS::EC2::SecurityGroup{kind}", 0)
    (warning,) = warnings_of(stack)
    assert "all traffic in and out between sg-1 and sg-1" in warning
    assert "DT109" in warning


def test_a_group_that_allows_everything_out_may_lose_it():
    (warning,) = warnings_of(stack_with_group(mutable=True, allow_all_outbound=True))
    assert "DT113" in warning


def test_a_group_of_the_application_keeps_what_it_had():
    stack = cdk.Stack(cdk.App(), "S")
    vpc = ec2.Vpc(stack, "Vpc", max_azs=1)
    group = ec2.SecurityGroup(stack, "Group", vpc=vpc, allow_all_outbound=False)
    group.add_egress_rule(ec2.Peer.any_ipv4(), ec2.Port.tcp(443))
    dt.TrainingNetwork(stack, "Network", vpc=vpc, node_security_group=group)
    template = Template.from_stack(stack)
    template.has_resource_properties(
        "AWS::EC2::SecurityGroup", {"SecurityGroupEgress": [Match.object_like({"FromPort": 443})]}
    )
    template.resource_count_is("AWS::EC2::SecurityGroupIngress", 1)
    template.resource_count_is("AWS::EC2::SecurityGroupEgress", 1)


def test_further_groups_are_attached_and_left_alone():
    stack = cdk.Stack(cdk.App(), "S")
    others = [ec2.SecurityGroup.from_security_group_id(stack, f"G{i}", f"sg-{i}") for i in range(4)]
    network = dt.TrainingNetwork(stack, "Network", additional_security_groups=others)
    assert [group.security_group_id for group in network.security_groups[1:]] == ["sg-0", "sg-1", "sg-2", "sg-3"]
    ingress = Template.from_stack(stack).find_resources("AWS::EC2::SecurityGroupIngress").values()
    assert not [rule for rule in ingress if str(rule["Properties"]["GroupId"]).startswith("sg-")]


def test_more_than_five_groups_are_refused():
    stack = cdk.Stack(cdk.App(), "S")
    others = [ec2.SecurityGroup.from_security_group_id(stack, f"G{i}", f"sg-{i}") for i in range(5)]
    with pytest.raises(dt.ConfigurationError, match="DT108"):
        dt.TrainingNetwork(stack, "Network", additional_security_groups=others)
