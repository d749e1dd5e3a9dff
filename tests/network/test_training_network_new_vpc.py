"""The network that a user gets who brings nothing."""

import json
from pathlib import Path

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_logs as logs
from aws_cdk.assertions import Annotations, Match, Template

import cdk_distributed_training as dt

ENVIRONMENT = cdk.Environment(account="111111111111", region="us-east-1")


def stack_with(**props) -> cdk.Stack:
    stack = cdk.Stack(cdk.App(), "S", env=ENVIRONMENT)
    dt.TrainingNetwork(stack, "Network", **props)
    return stack


def resources(template: Template, kind: str) -> list[dict]:
    return [found["Properties"] for found in template.find_resources(f"AWS::EC2::{kind}").values()]


def node_group(template: Template) -> str:
    (logical_id,) = template.find_resources(
        "AWS::EC2::SecurityGroup", {"Properties": {"GroupDescription": Match.string_like_regexp("^Training nodes")}}
    )
    return logical_id


def no_rule_is_open_to_everything(template: Template) -> bool:
    groups = resources(template, "SecurityGroup")
    rules = [
        rule for group in groups for side in ("Egress", "Ingress") for rule in group.get(f"SecurityGroup{side}", [])
    ]
    rules += resources(template, "SecurityGroupEgress") + resources(template, "SecurityGroupIngress")
    return not [rule for rule in rules if rule["IpProtocol"] == "-1" and "CidrIp" in rule]


@pytest.fixture(scope="module")
def template() -> Template:
    return Template.from_stack(stack_with(availability_zone="us-east-1d"))


def test_one_private_subnet_in_the_named_zone(template):
    (subnet,) = resources(template, "Subnet")
    assert subnet["AvailabilityZone"] == "us-east-1d"
    assert subnet["CidrBlock"] == "10.0.0.0/17"
    assert subnet["MapPublicIpOnLaunch"] is False
    for kind in ("InternetGateway", "NatGateway", "Route", "EIP"):
        template.resource_count_is(f"AWS::EC2::{kind}", 0)


def test_s3_gateway_endpoint_on_the_subnets_route_table(template):
    (route_table,) = template.find_resources("AWS::EC2::RouteTable")
    (association,) = resources(template, "SubnetRouteTableAssociation")
    assert association["RouteTableId"] == {"Ref": route_table}
    template.has_resource_properties(
        "AWS::EC2::VPCEndpoint",
        {
            "VpcEndpointType": "Gateway",
            "RouteTableIds": [{"Ref": route_table}],
            "ServiceName": {"Fn::Join": ["", ["com.amazonaws.", {"Ref": "AWS::Region"}, ".s3"]]},
        },
    )


@pytest.mark.parametrize("service", ["logs", "monitoring", "sagemaker.api", "sts"])
def test_interface_endpoints(template, service):
    (subnet,) = template.find_resources("AWS::EC2::Subnet")
    template.has_resource_properties(
        "AWS::EC2::VPCEndpoint",
        {
            "VpcEndpointType": "Interface",
            "ServiceName": f"com.amazonaws.us-east-1.{service}",
            "PrivateDnsEnabled": True,
            "SubnetIds": [{"Ref": subnet}],
            "SecurityGroupIds": [Match.any_value()],
        },
    )


def test_endpoints_let_in_https_from_nodes_only(template):
    nodes = {"Fn::GetAtt": [node_group(template), "GroupId"]}
    (endpoints,) = template.find_resources(
        "AWS::EC2::SecurityGroup",
        {"Properties": {"GroupDescription": Match.string_like_regexp("^Interface endpoints")}},
    )
    into = [
        rule
        for rule in resources(template, "SecurityGroupIngress")
        if rule["GroupId"] == {"Fn::GetAtt": [endpoints, "GroupId"]}
    ]
    assert [(rule["SourceSecurityGroupId"], rule["FromPort"], rule["ToPort"]) for rule in into] == [(nodes, 443, 443)]


@pytest.mark.parametrize(("kind", "peer"), [("Ingress", "Source"), ("Egress", "Destination")])
def test_nodes_are_open_to_themselves_by_group_id(template, kind, peer):
    nodes = {"Fn::GetAtt": [node_group(template), "GroupId"]}
    of_itself = [
        rule
        for rule in resources(template, f"SecurityGroup{kind}")
        if rule["GroupId"] == nodes and rule[f"{peer}SecurityGroupId"] == nodes
    ]
    assert [rule["IpProtocol"] for rule in of_itself] == ["-1"]


def test_the_only_inline_egress_of_nodes_is_https(template):
    (group,) = [
        group
        for group in resources(template, "SecurityGroup")
        if group["GroupDescription"].startswith("Training nodes")
    ]
    (egress,) = group["SecurityGroupEgress"]
    assert (egress["IpProtocol"], egress["FromPort"], egress["ToPort"]) == ("tcp", 443, 443)
    assert egress["CidrIp"] == "0.0.0.0/0"
    assert "SecurityGroupIngress" not in group


def test_every_group_has_an_inline_egress_so_that_ec2_adds_none(template):
    assert all(group["SecurityGroupEgress"] for group in resources(template, "SecurityGroup"))
    assert no_rule_is_open_to_everything(template)


def test_inline_rules_stay_although_the_application_turns_them_off():
    app = cdk.App(context={"@aws-cdk/aws-ec2.securityGroupDisableInlineRules": True})
    stack = cdk.Stack(app, "S", env=ENVIRONMENT)
    dt.TrainingNetwork(stack, "Network")
    assert all(group["SecurityGroupEgress"] for group in resources(Template.from_stack(stack), "SecurityGroup"))


def test_flow_log_of_all_traffic_with_a_role_of_its_own(template):
    template.has_resource_properties("AWS::EC2::FlowLog", {"ResourceType": "VPC", "TrafficType": "ALL"})
    template.has_resource_properties("AWS::Logs::LogGroup", {"RetentionInDays": 365})
    template.has_resource_properties(
        "AWS::IAM::Role",
        {
            "AssumeRolePolicyDocument": {
                "Statement": [
                    Match.object_like(
                        {
                            "Principal": {"Service": "vpc-flow-logs.amazonaws.com"},
                            "Condition": Match.object_like({"StringEquals": {"aws:SourceAccount": "111111111111"}}),
                        }
                    )
                ]
            }
        },
    )


def test_default_security_group_is_closed_and_only_it_may_be_changed(template):
    (vpc,) = template.find_resources("AWS::EC2::VPC")
    group = {"Fn::GetAtt": [vpc, "DefaultSecurityGroup"]}
    template.has_resource_properties("Custom::CloseDefaultSecurityGroup", {"SecurityGroupId": group})
    (role,) = template.find_resources("AWS::IAM::Role", {"Properties": {"Policies": Match.any_value()}}).values()
    (statement,) = role["Properties"]["Policies"][0]["PolicyDocument"]["Statement"]
    (arn,) = statement["Resource"]
    assert arn["Fn::Join"][1][-1] == group
    assert all(action.endswith(("SecurityGroupIngress", "SecurityGroupEgress")) for action in statement["Action"])


def test_no_zone_is_looked_up_so_that_no_credentials_are_needed():
    app = cdk.App()
    stack = cdk.Stack(app, "S", env=ENVIRONMENT)
    dt.TrainingNetwork(stack, "Named", availability_zone="us-east-1d")
    dt.TrainingNetwork(stack, "First")
    app.synth()
    assert "missing" not in json.loads(Path(app.outdir, "manifest.json").read_text())


def test_zone_by_id_leaves_the_name_to_cloudformation():
    stack = cdk.Stack(cdk.App(), "S", env=ENVIRONMENT)
    network = dt.TrainingNetwork(stack, "Network", availability_zone_id="use1-az4")
    template = Template.from_stack(stack)
    ((subnet_id, subnet),) = template.find_resources("AWS::EC2::Subnet").items()
    assert subnet["Properties"]["AvailabilityZoneId"] == "use1-az4"
    assert "AvailabilityZone" not in subnet["Properties"]
    assert stack.resolve(network.availability_zone) == {"Fn::GetAtt": [subnet_id, "AvailabilityZone"]}


def test_first_zone_of_the_region_by_default_in_any_environment():
    stack = cdk.Stack(cdk.App(), "Agnostic")
    network = dt.TrainingNetwork(stack, "Network")
    first = {"Fn::Select": [0, {"Fn::GetAZs": ""}]}
    Template.from_stack(stack).has_resource_properties("AWS::EC2::Subnet", {"AvailabilityZone": first})
    assert stack.resolve(network.availability_zone) == first


def test_zone_and_range_as_tokens():
    stack = cdk.Stack(cdk.App(), "S")
    parameter = cdk.CfnParameter(stack, "Zone").value_as_string
    dt.TrainingNetwork(
        stack, "Network", availability_zone=parameter, cidr=cdk.CfnParameter(stack, "Cidr").value_as_string
    )
    Template.from_stack(stack).has_resource_properties(
        "AWS::EC2::Subnet",
        {
            "AvailabilityZone": {"Ref": "Zone"},
            "CidrBlock": {"Fn::Select": [0, {"Fn::Cidr": [{"Ref": "Cidr"}, 1, "15"]}]},
        },
    )


@pytest.mark.parametrize(
    ("cidr", "mask", "block"),
    [
        ("10.1.0.0/16", None, "10.1.0.0/17"),
        ("10.1.0.0/28", None, "10.1.0.0/28"),
        ("172.16.0.0/20", 24, "172.16.0.0/24"),
    ],
)
def test_size_of_the_subnet(cidr, mask, block):
    template = Template.from_stack(stack_with(cidr=cidr, subnet_mask=mask))
    template.has_resource_properties("AWS::EC2::VPC", {"CidrBlock": cidr})
    template.has_resource_properties("AWS::EC2::Subnet", {"CidrBlock": block})


def test_parts_can_be_left_out():
    template = Template.from_stack(
        stack_with(
            interface_endpoints=[], flow_log=False, close_default_security_group=False, s3_gateway_endpoint=False
        )
    )
    for kind in ("AWS::EC2::VPCEndpoint", "AWS::EC2::FlowLog", "AWS::Lambda::Function", "AWS::IAM::Role"):
        template.resource_count_is(kind, 0)


def test_flow_log_into_a_brought_group():
    stack = cdk.Stack(cdk.App(), "S")
    group = logs.LogGroup.from_log_group_name(stack, "Group", "audit")
    dt.TrainingNetwork(stack, "Network", flow_log_group=group)
    template = Template.from_stack(stack)
    template.resource_count_is("AWS::Logs::LogGroup", 0)
    template.has_resource_properties("AWS::EC2::FlowLog", {"LogGroupName": "audit"})


def test_more_endpoints_share_the_group():
    stack = cdk.Stack(cdk.App(), "S")
    network = dt.TrainingNetwork(stack, "Network")
    network.add_interface_endpoint("KmsEndpoint", ec2.InterfaceVpcEndpointAwsService.KMS)
    endpoints = [
        endpoint
        for endpoint in resources(Template.from_stack(stack), "VPCEndpoint")
        if endpoint["VpcEndpointType"] == "Interface"
    ]
    assert len(endpoints) == 5
    assert len({str(endpoint["SecurityGroupIds"]) for endpoint in endpoints}) == 1


def test_s3_prefix_list_narrows_https():
    stack = cdk.Stack(cdk.App(), "S")
    prefix_list = ec2.PrefixList.from_prefix_list_id(stack, "S3", "pl-0123")
    dt.TrainingNetwork(stack, "Network", s3_prefix_list=prefix_list)
    template = Template.from_stack(stack)
    (group,) = [
        group
        for group in resources(template, "SecurityGroup")
        if group["GroupDescription"].startswith("Training nodes")
    ]
    assert [rule["CidrIp"] for rule in group["SecurityGroupEgress"]] == ["10.0.0.0/16"]
    template.has_resource_properties(
        "AWS::EC2::SecurityGroupEgress",
        {"DestinationPrefixListId": "pl-0123", "IpProtocol": "tcp", "FromPort": 443, "ToPort": 443},
    )


def test_two_networks_in_one_stack_share_the_one_function():
    stack = cdk.Stack(cdk.App(), "S")
    dt.TrainingNetwork(stack, "One")
    dt.TrainingNetwork(stack, "Two", cidr="10.1.0.0/16")
    template = Template.from_stack(stack)
    template.resource_count_is("AWS::EC2::VPC", 2)
    template.resource_count_is("AWS::Lambda::Function", 1)
    template.resource_count_is("Custom::CloseDefaultSecurityGroup", 2)


def test_it_is_connectable():
    stack = cdk.Stack(cdk.App(), "S")
    network = dt.TrainingNetwork(stack, "Network")
    assert isinstance(network, dt.ITrainingNetwork)
    database = ec2.SecurityGroup(stack, "Database", vpc=network.vpc, allow_all_outbound=False)
    database.connections.allow_from(network, ec2.Port.tcp(5432))
    template = Template.from_stack(stack)
    nodes = {"Fn::GetAtt": [node_group(template), "GroupId"]}
    for kind, side in (("Ingress", "SourceSecurityGroupId"), ("Egress", "GroupId")):
        template.has_resource_properties(f"AWS::EC2::SecurityGroup{kind}", {side: nodes, "FromPort": 5432})


def test_in_a_stage():
    app = cdk.App()
    stage = cdk.Stage(app, "Production", env=ENVIRONMENT)
    stack = cdk.Stack(stage, "S")
    dt.TrainingNetwork(stack, "Network")
    Template.from_stack(stack).resource_count_is("AWS::EC2::Subnet", 1)


def test_all_contradictions_at_once():
    with pytest.raises(dt.ConfigurationError) as caught:
        stack_with(
            availability_zone="use1-az1",
            availability_zone_id="us-east-1a",
            cidr="10.0.0.0/8",
            subnet_mask=30,
            vpc_subnets=ec2.SubnetSelection(one_per_az=True),
        )
    assert [finding.rule for finding in caught.value.findings] == ["DT101", "DT102", "DT103", "DT111", "DT104", "DT105"]
    assert caught.value.where == "S/Network"


def test_a_plain_network_warns_of_nothing():
    stack = stack_with(availability_zone="us-east-1d")
    assert not Annotations.from_stack(stack).find_warning("*", Match.any_value())
