"""A training network on a VPC that somebody else made."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Annotations, Match, Template

import cdk_distributed_training as dt

ENVIRONMENT = cdk.Environment(account="111111111111", region="us-east-1")


def new_stack(**props) -> cdk.Stack:
    return cdk.Stack(cdk.App(), "S", **props)


def imported_vpc(stack, **props) -> ec2.IVpc:
    given = {
        "vpc_id": "vpc-1",
        "availability_zones": ["us-east-1a", "us-east-1b"],
        "private_subnet_ids": ["subnet-a", "subnet-b"],
        "private_subnet_route_table_ids": ["rtb-a", "rtb-b"],
    }
    return ec2.Vpc.from_vpc_attributes(stack, "Vpc", **{**given, **props})


def warnings_of(stack) -> list[str]:
    return [str(found.entry.data) for found in Annotations.from_stack(stack).find_warning("*", Match.any_value())]


def test_only_the_node_group_is_made():
    stack = new_stack()
    network = dt.TrainingNetwork(stack, "Network", vpc=imported_vpc(stack))
    template = Template.from_stack(stack)
    assert network.subnet.subnet_id == "subnet-a"
    assert network.availability_zone == "us-east-1a"
    kinds = {resource["Type"] for resource in template.to_json()["Resources"].values()}
    assert kinds == {f"AWS::EC2::SecurityGroup{kind}" for kind in ("", "Ingress", "Egress")}


def test_the_zone_chooses_the_subnet():
    stack = new_stack()
    network = dt.TrainingNetwork(stack, "Network", vpc=imported_vpc(stack), availability_zone="us-east-1b")
    assert network.subnet.subnet_id == "subnet-b"


def test_the_selection_chooses_the_subnet():
    stack = new_stack()
    vpc = imported_vpc(stack, isolated_subnet_ids=["subnet-x", "subnet-y"])
    selection = ec2.SubnetSelection(subnet_type=ec2.SubnetType.PRIVATE_ISOLATED)
    network = dt.TrainingNetwork(stack, "Network", vpc=vpc, vpc_subnets=selection, availability_zone="us-east-1b")
    assert network.subnet.subnet_id == "subnet-y"


def test_a_zone_without_a_subnet_is_refused_and_the_zones_are_named():
    stack = new_stack()
    with pytest.raises(dt.ConfigurationError, match=r"DT106") as caught:
        dt.TrainingNetwork(stack, "Network", vpc=imported_vpc(stack), availability_zone="us-east-1f")
    assert "us-east-1a, us-east-1b" in str(caught.value)


def test_the_given_subnet_must_lie_in_the_given_zone():
    stack = new_stack()
    vpc = imported_vpc(stack)
    with pytest.raises(dt.ConfigurationError, match=r"DT107"):
        dt.TrainingNetwork(stack, "N", vpc=vpc, subnet=vpc.private_subnets[0], availability_zone="us-east-1b")


def test_everything_by_token():
    stack = new_stack()
    vpc = imported_vpc(stack, vpc_id=cdk.Fn.import_value("vpc"))
    subnet = ec2.Subnet.from_subnet_id(stack, "Subnet", cdk.CfnParameter(stack, "SubnetId").value_as_string)
    network = dt.TrainingNetwork(stack, "Network", vpc=vpc, subnet=subnet)
    assert network.availability_zone is None
    assert stack.resolve(network.subnet.subnet_id) == {"Ref": "SubnetId"}
    named = dt.TrainingNetwork(stack, "Named", vpc=vpc, subnet=subnet, availability_zone="us-east-1a")
    assert named.availability_zone == "us-east-1a"


def test_a_vpc_made_in_the_application_whose_zones_are_tokens():
    stack = new_stack()
    vpc = ec2.Vpc(stack, "Vpc", max_azs=2)
    network = dt.TrainingNetwork(stack, "Network", vpc=vpc)
    assert stack.resolve(network.subnet.subnet_id) == stack.resolve(vpc.private_subnets[0].subnet_id)
    with pytest.raises(dt.ConfigurationError, match="only known when deployed"):
        dt.TrainingNetwork(stack, "Named", vpc=vpc, availability_zone="us-east-1a")


def test_the_only_subnet_is_taken_although_its_zone_is_a_token():
    stack = new_stack()
    vpc = ec2.Vpc(stack, "Vpc", max_azs=1)
    network = dt.TrainingNetwork(stack, "Network", vpc=vpc, availability_zone="us-east-1a")
    assert stack.resolve(network.subnet.subnet_id) == stack.resolve(vpc.private_subnets[0].subnet_id)


def test_a_pending_lookup_neither_fails_nor_warns():
    stack = new_stack(env=ENVIRONMENT)
    vpc = ec2.Vpc.from_lookup(stack, "Vpc", vpc_id="vpc-1")
    dt.TrainingNetwork(stack, "Network", vpc=vpc, availability_zone="us-east-1d")
    assert not [text for text in warnings_of(stack) if "DT" in text]


def test_an_isolated_subnet_is_asked_for_its_gateway_endpoint():
    stack = new_stack()
    vpc = ec2.Vpc.from_vpc_attributes(
        stack, "Vpc", vpc_id="vpc-1", availability_zones=["us-east-1a"], isolated_subnet_ids=["subnet-x"]
    )
    dt.TrainingNetwork(stack, "Network", vpc=vpc)
    assert [text for text in warnings_of(stack) if "DT112" in text]


def test_the_gateway_endpoint_goes_on_the_route_table_that_is_used():
    stack = new_stack()
    dt.TrainingNetwork(
        stack, "Network", vpc=imported_vpc(stack), availability_zone="us-east-1b", s3_gateway_endpoint=True
    )
    Template.from_stack(stack).has_resource_properties(
        "AWS::EC2::VPCEndpoint", {"VpcEndpointType": "Gateway", "RouteTableIds": ["rtb-b"]}
    )


def test_endpoints_and_flow_log_on_request():
    stack = new_stack()
    services = ec2.InterfaceVpcEndpointAwsService
    dt.TrainingNetwork(stack, "Network", vpc=imported_vpc(stack), interface_endpoints=[services.STS], flow_log=True)
    template = Template.from_stack(stack)
    template.has_resource_properties("AWS::EC2::VPCEndpoint", {"SubnetIds": ["subnet-a"], "PrivateDnsEnabled": True})
    template.has_resource_properties("AWS::EC2::FlowLog", {"ResourceId": "vpc-1"})


def test_what_describes_a_new_vpc_is_refused():
    stack = new_stack()
    vpc = imported_vpc(stack)
    with pytest.raises(dt.ConfigurationError) as caught:
        dt.TrainingNetwork(
            stack,
            "Network",
            vpc=vpc,
            subnet=vpc.private_subnets[0],
            vpc_subnets=ec2.SubnetSelection(),
            cidr="10.0.0.0/16",
            availability_zone_id="use1-az1",
        )
    assert [finding.rule for finding in caught.value.findings] == ["DT110", "DT110", "DT101"]


def test_from_attributes_adds_nothing():
    stack = new_stack()
    vpc = imported_vpc(stack)
    group = ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-1")
    network = dt.TrainingNetwork.from_attributes(
        stack, "Network", vpc=vpc, subnet=vpc.private_subnets[1], node_security_group=group
    )
    assert isinstance(network, dt.ITrainingNetwork)
    assert network.availability_zone == "us-east-1b"
    assert [one.security_group_id for one in network.security_groups] == ["sg-1"]
    assert "Resources" not in Template.from_stack(stack).to_json()
