"""A training network on a VPC that somebody else made."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_logs as logs
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


CHOICES = {
    "a zone by its id": {"availability_zone_id": "use1-az4"},
    "the third zone": {"availability_zone_index": 2},
    "a group by its name": {"vpc_subnets": ec2.SubnetSelection(subnet_group_name="training")},
    "a zone of the selection's": {"vpc_subnets": ec2.SubnetSelection(availability_zones=["us-east-1d"])},
    "a filter": {"vpc_subnets": ec2.SubnetSelection(subnet_filters=[ec2.SubnetFilter.by_ids(["subnet-1"])])},
}


@pytest.mark.parametrize("choice", CHOICES)
def test_no_choice_is_refused_before_the_lookup_has_run(choice):
    stack = new_stack(env=ENVIRONMENT)
    vpc = ec2.Vpc.from_lookup(stack, "Vpc", vpc_id="vpc-1")
    assert dt.TrainingNetwork(stack, "Network", vpc=vpc, **CHOICES[choice]).subnet.subnet_id


def test_a_subnet_of_a_pending_lookup_may_be_in_any_zone():
    stack = new_stack(env=ENVIRONMENT)
    vpc = ec2.Vpc.from_lookup(stack, "Vpc", vpc_id="vpc-1")
    subnet = vpc.private_subnets[0]
    network = dt.TrainingNetwork(stack, "Network", vpc=vpc, subnet=subnet, availability_zone="us-east-1d")
    assert network.subnet.subnet_id == subnet.subnet_id


def test_a_vpc_whose_zones_are_pending_has_its_third_one():
    stack = new_stack(env=ENVIRONMENT)
    assert dt.TrainingNetwork(stack, "Network", vpc=ec2.Vpc(stack, "Vpc", max_azs=3), availability_zone_index=2).subnet


def test_an_isolated_subnet_is_asked_for_its_gateway_endpoint():
    stack = new_stack()
    vpc = ec2.Vpc.from_vpc_attributes(
        stack, "Vpc", vpc_id="vpc-1", availability_zones=["us-east-1a"], isolated_subnet_ids=["subnet-x"]
    )
    dt.TrainingNetwork(stack, "Network", vpc=vpc)
    assert [text for text in warnings_of(stack) if "DT112" in text]


@pytest.mark.parametrize("endpoint", [None, False])
def test_a_public_subnet_is_asked_for_it_too_unless_it_is_declined(endpoint):
    stack = new_stack()
    vpc = ec2.Vpc.from_vpc_attributes(
        stack, "Vpc", vpc_id="vpc-1", availability_zones=["us-east-1a"], public_subnet_ids=["subnet-x"]
    )
    public = ec2.SubnetSelection(subnet_type=ec2.SubnetType.PUBLIC)
    dt.TrainingNetwork(stack, "Network", vpc=vpc, vpc_subnets=public, s3_gateway_endpoint=endpoint)
    said = [text for text in warnings_of(stack) if "DT112" in text]
    assert [text for text in said if "got public subnet subnet-x" in text] == (said if endpoint is None else [])
    assert len(said) == (1 if endpoint is None else 0)


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
            subnet_mask=20,
            internet=dt.InternetAccess.nat_gateway(),
        )
    assert [finding.rule for finding in caught.value.findings] == ["DT110", "DT110", "DT110", "DT101"]


def test_properties_that_another_one_makes_say_nothing():
    stack = new_stack()
    vpc = imported_vpc(stack)
    with pytest.raises(dt.ConfigurationError) as caught:
        dt.TrainingNetwork(
            stack,
            "Network",
            vpc=vpc,
            node_security_group=ec2.SecurityGroup.from_security_group_id(stack, "Nodes", "sg-1"),
            s3_prefix_list=ec2.PrefixList.from_prefix_list_id(stack, "S3", "pl-1"),
            flow_log=False,
            flow_log_group=logs.LogGroup(stack, "Log"),
        )
    assert [(finding.rule, finding.prop) for finding in caught.value.findings] == [
        ("DT101", "node_security_group and s3_prefix_list"),
        ("DT101", "flow_log and flow_log_group"),
    ]


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


def test_a_zone_by_token_is_not_compared():
    stack = new_stack()
    vpc = imported_vpc(stack)
    zone = cdk.CfnParameter(stack, "Zone").value_as_string
    network = dt.TrainingNetwork(stack, "Network", vpc=vpc, subnet=vpc.private_subnets[0], availability_zone=zone)
    assert network.availability_zone == "us-east-1a"


@pytest.mark.parametrize("kind", [ec2.SubnetType.PRIVATE_ISOLATED, ec2.SubnetType.PUBLIC])
def test_a_kind_of_subnet_that_the_vpc_lacks_is_refused_and_its_kinds_are_named(kind):
    stack = new_stack()
    with pytest.raises(dt.ConfigurationError, match=rf"got subnet_type={kind}; .* SubnetType.PRIVATE_WITH_EGRESS"):
        dt.TrainingNetwork(stack, "Network", vpc=imported_vpc(stack), vpc_subnets=ec2.SubnetSelection(subnet_type=kind))


def test_a_closed_vpc_has_no_subnet_with_a_way_out():
    stack = new_stack()
    vpc = ec2.Vpc(stack, "Vpc", nat_gateways=0, max_azs=1)
    with pytest.raises(dt.ConfigurationError, match=r"SubnetType\.PRIVATE_ISOLATED"):
        dt.TrainingNetwork(
            stack, "N", vpc=vpc, vpc_subnets=ec2.SubnetSelection(subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS)
        )
    assert dt.TrainingNetwork(stack, "Network", vpc=vpc).subnet.subnet_id == vpc.isolated_subnets[0].subnet_id


def test_a_gateway_endpoint_without_a_route_table_is_refused():
    stack = new_stack()
    vpc = imported_vpc(stack, private_subnet_route_table_ids=None)
    with pytest.raises(dt.ConfigurationError, match="DT156"):
        dt.TrainingNetwork(stack, "Network", vpc=vpc, s3_gateway_endpoint=True)
    alone = ec2.Subnet.from_subnet_id(stack, "Alone", "subnet-x")
    with pytest.raises(dt.ConfigurationError, match="subnet-x"):
        dt.TrainingNetwork(stack, "Other", vpc=vpc, subnet=alone, s3_gateway_endpoint=True)
    known = ec2.Subnet.from_subnet_attributes(stack, "Known", subnet_id="subnet-y", route_table_id="rtb-y")
    dt.TrainingNetwork(stack, "Third", vpc=vpc, subnet=known, s3_gateway_endpoint=True)
    Template.from_stack(stack).has_resource_properties("AWS::EC2::VPCEndpoint", {"RouteTableIds": ["rtb-y"]})


def test_from_ids_that_are_tokens():
    stack = new_stack()
    text = cdk.CfnParameter(stack, "Text").value_as_string
    network = dt.TrainingNetwork.from_ids(
        stack, "Network", vpc_id=text, subnet_id=text, security_group_ids=[text, "sg-2"], availability_zone=text
    )
    assert isinstance(network, dt.ITrainingNetwork)
    assert stack.resolve([group.security_group_id for group in network.security_groups]) == [{"Ref": "Text"}, "sg-2"]
    assert stack.resolve(network.availability_zone) == {"Ref": "Text"}
    assert "Resources" not in Template.from_stack(stack).to_json()


def test_from_ids_without_a_zone_and_without_a_group():
    stack = new_stack()
    network = dt.TrainingNetwork.from_ids(
        stack,
        "Network",
        vpc_id="vpc-1",
        subnet_id="subnet-1",
        security_group_ids=["sg-1"],
        availability_zone_id="use1-az1",
    )
    assert network.availability_zone is None
    assert network.availability_zone_id == "use1-az1"
    with pytest.raises(dt.ConfigurationError, match="DT108"):
        dt.TrainingNetwork.from_ids(stack, "None", vpc_id="vpc-1", subnet_id="subnet-1", security_group_ids=[])


def test_a_vpc_shared_with_a_database():
    stack = new_stack(env=ENVIRONMENT)
    vpc = imported_vpc(stack)
    network = dt.TrainingNetwork(stack, "Network", vpc=vpc, availability_zone="us-east-1b")
    database = ec2.SecurityGroup(stack, "Database", vpc=vpc)
    network.connections.allow_to(database, ec2.Port.tcp(5432))
    database.connections.allow_from(network, ec2.Port.tcp(5433))
    template = Template.from_stack(stack)
    for port in (5432, 5433):
        template.has_resource_properties("AWS::EC2::SecurityGroupIngress", {"FromPort": port})
    template.has_resource_properties("AWS::EC2::SecurityGroupEgress", {"FromPort": 5432})
