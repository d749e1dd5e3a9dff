"""Ways to the internet, and second ranges."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Template

import cdk_distributed_training as dt
from cdk_distributed_training.network.internet_access import _ROUTE_PROPERTIES


def stack_with(**props) -> tuple[cdk.Stack, dt.TrainingNetwork]:
    stack = cdk.Stack(cdk.App(), "S")
    return stack, dt.TrainingNetwork(stack, "Network", interface_endpoints=[], flow_log=False, **props)


def by_name(template: Template, kind: str) -> dict[str, dict]:
    """Properties by the last part of the construct path, which the resources' names end in."""
    return {key: found["Properties"] for key, found in template.find_resources(f"AWS::EC2::{kind}").items()}


@pytest.fixture(scope="module")
def nat() -> tuple[cdk.Stack, dt.TrainingNetwork, Template]:
    stack, network = stack_with(internet=dt.InternetAccess.nat_gateway(), availability_zone="us-east-1d")
    return stack, network, Template.from_stack(stack)


def test_a_nat_gateway_in_a_small_public_subnet_of_the_same_zone(nat):
    _, _, template = nat
    subnets = {found["CidrBlock"]: found for found in by_name(template, "Subnet").values()}
    assert set(subnets) == {"10.0.0.0/17", "10.0.255.240/28"}
    assert {found["AvailabilityZone"] for found in subnets.values()} == {"us-east-1d"}
    assert not any(found["MapPublicIpOnLaunch"] for found in subnets.values())
    (nat_id,) = by_name(template, "NatGateway")
    routes = by_name(template, "Route").values()
    assert [route for route in routes if route.get("NatGatewayId") == {"Ref": nat_id}]
    assert len([route for route in routes if "GatewayId" in route]) == 1


def test_training_is_in_the_private_subnet(nat):
    stack, network, template = nat
    training = next(key for key, found in by_name(template, "Subnet").items() if found["CidrBlock"] == "10.0.0.0/17")
    assert stack.resolve(network.subnet.subnet_id) == {"Ref": training}
    assert [stack.resolve(one.subnet_id) for one in network.vpc.private_subnets] == [{"Ref": training}]
    assert len(network.vpc.public_subnets) == 1
    assert not network.vpc.isolated_subnets


def test_s3_still_goes_by_its_gateway_endpoint(nat):
    stack, network, template = nat
    (endpoint,) = by_name(template, "VPCEndpoint").values()
    assert endpoint["RouteTableIds"] == [stack.resolve(network.subnet.route_table.route_table_id)]


def test_the_gateway_is_made_when_the_vpc_has_its_way_out(nat):
    _, _, template = nat
    (gateway,) = template.find_resources("AWS::EC2::NatGateway").values()
    (address,) = template.find_resources("AWS::EC2::EIP").values()
    (attachment,) = template.find_resources("AWS::EC2::VPCGatewayAttachment")
    assert [one for one in gateway["DependsOn"] if "PublicRoute" in one]
    assert address["DependsOn"] == [attachment]


def test_a_public_address_that_exists():
    stack, _ = stack_with(internet=dt.InternetAccess.nat_gateway(elastic_ip_allocation_id="eipalloc-1"))
    template = Template.from_stack(stack)
    template.resource_count_is("AWS::EC2::EIP", 0)
    template.has_resource_properties("AWS::EC2::NatGateway", {"AllocationId": "eipalloc-1"})


@pytest.mark.parametrize(
    ("kind", "prop"),
    [
        (ec2.RouterType.TRANSIT_GATEWAY, "TransitGatewayId"),
        (ec2.RouterType.VPC_ENDPOINT, "VpcEndpointId"),
        (ec2.RouterType.NAT_GATEWAY, "NatGatewayId"),
    ],
)
def test_a_router_that_exists(kind, prop):
    stack, network = stack_with(internet=dt.InternetAccess.through(kind, "id-1"))
    Template.from_stack(stack).has_resource_properties(
        "AWS::EC2::Route", {"DestinationCidrBlock": "0.0.0.0/0", prop: "id-1"}
    )
    assert len(network.vpc.private_subnets) == 1


def test_every_kind_of_router_has_its_property():
    assert set(_ROUTE_PROPERTIES) == set(ec2.RouterType)


def test_none_is_the_default():
    first, _ = stack_with()
    second, _ = stack_with(internet=dt.InternetAccess.none())
    assert Template.from_stack(first).to_json() == Template.from_stack(second).to_json()


def test_no_room_for_a_public_subnet():
    with pytest.raises(dt.ConfigurationError, match="DT153"):
        stack_with(internet=dt.InternetAccess.nat_gateway(), cidr="10.0.0.0/24", subnet_mask=24)
    stack_with(internet=dt.InternetAccess.nat_gateway(), cidr="10.0.0.0/24")


def test_ranges_that_are_tokens():
    stack = cdk.Stack(cdk.App(), "S")
    cidr = cdk.CfnParameter(stack, "Cidr").value_as_string
    dt.TrainingNetwork(stack, "Network", cidr=cidr, internet=dt.InternetAccess.nat_gateway(), subnet_mask=20)
    blocks = [found["CidrBlock"] for found in by_name(Template.from_stack(stack), "Subnet").values()]
    assert {"Fn::Select": [0, {"Fn::Cidr": [{"Ref": "Cidr"}, 1, "12"]}]} in blocks
    assert {"Fn::Select": [1, {"Fn::Cidr": [{"Ref": "Cidr"}, 2, "12"]}]} in blocks


def test_a_second_range_holds_the_training_subnet():
    stack, network = stack_with(
        cidr="10.7.0.0/24", secondary_cidr="100.64.0.0/16", internet=dt.InternetAccess.nat_gateway()
    )
    template = Template.from_stack(stack)
    (second,) = template.find_resources("AWS::EC2::VPCCidrBlock")
    subnets = template.find_resources("AWS::EC2::Subnet").values()
    blocks = {found["Properties"]["CidrBlock"]: found for found in subnets}
    assert set(blocks) == {"100.64.0.0/17", "10.7.0.240/28"}
    assert second in blocks["100.64.0.0/17"]["DependsOn"]
    assert network.usable_addresses == 2**15 - 5


@pytest.mark.parametrize(
    ("second", "rule"), [("10.0.128.0/17", "DT152"), ("100.64.0.0/8", "DT104"), ("elsewhere", "DT104")]
)
def test_second_ranges_that_cannot_be(second, rule):
    with pytest.raises(dt.ConfigurationError, match=rule) as caught:
        stack_with(secondary_cidr=second)
    assert {finding.prop for finding in caught.value.findings} == {"secondary_cidr"}


def test_a_second_range_that_is_a_token():
    stack = cdk.Stack(cdk.App(), "S")
    cidr = cdk.CfnParameter(stack, "Cidr").value_as_string
    dt.TrainingNetwork(stack, "Network", secondary_cidr=cidr, internet=dt.InternetAccess.nat_gateway())
    template = Template.from_stack(stack)
    template.has_resource_properties("AWS::EC2::VPCCidrBlock", {"CidrBlock": {"Ref": "Cidr"}})


def test_a_prefix_length_that_is_a_token_is_refused():
    stack = cdk.Stack(cdk.App(), "S")
    mask = cdk.CfnParameter(stack, "Mask", type="Number").value_as_number
    with pytest.raises(dt.ConfigurationError, match="only known when deployed"):
        dt.TrainingNetwork(stack, "Network", subnet_mask=mask)


def test_a_router_and_an_address_by_token():
    stack = cdk.Stack(cdk.App(), "S")
    text = cdk.CfnParameter(stack, "Text").value_as_string
    router = dt.InternetAccess.through(ec2.RouterType.TRANSIT_GATEWAY, text)
    dt.TrainingNetwork(stack, "One", internet=router, interface_endpoints=[])
    nat = dt.InternetAccess.nat_gateway(elastic_ip_allocation_id=text)
    dt.TrainingNetwork(stack, "Two", internet=nat, interface_endpoints=[], trusted_accounts=[text])
    template = Template.from_stack(stack)
    template.has_resource_properties("AWS::EC2::Route", {"TransitGatewayId": {"Ref": "Text"}})
    template.has_resource_properties("AWS::EC2::NatGateway", {"AllocationId": {"Ref": "Text"}})
