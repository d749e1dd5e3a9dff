"""How a network's one zone is chosen: by name, by id, by place."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Annotations, Match, Template

import cdk_distributed_training as dt

ENVIRONMENT = cdk.Environment(account="111111111111", region="us-east-1")


def new_stack(*, known: bool = True) -> cdk.Stack:
    return cdk.Stack(cdk.App(), "S", env=ENVIRONMENT if known else None)


def subnet_of(stack) -> dict:
    (found,) = Template.from_stack(stack).find_resources("AWS::EC2::Subnet").values()
    return found["Properties"]


def warnings_of(stack) -> list[str]:
    return [str(found.entry.data) for found in Annotations.from_stack(stack).find_warning("*", Match.any_value())]


def three_zones(stack) -> ec2.IVpc:
    return ec2.Vpc.from_vpc_attributes(
        stack,
        "Vpc",
        vpc_id="vpc-1",
        availability_zones=["us-east-1a", "us-east-1b", "us-east-1c"],
        private_subnet_ids=["subnet-a", "subnet-b", "subnet-c"],
        private_subnet_route_table_ids=["rtb-a", "rtb-b", "rtb-c"],
    )


@pytest.mark.parametrize(("known", "index"), [(True, 0), (True, 2), (False, 0), (False, 1)])
def test_by_place(known, index):
    stack = new_stack(known=known)
    dt.TrainingNetwork(stack, "Network", availability_zone_index=index)
    assert subnet_of(stack)["AvailabilityZone"] == {"Fn::Select": [index, {"Fn::GetAZs": ""}]}
    assert not warnings_of(stack)


def test_a_third_zone_is_refused_where_the_region_is_not_known():
    with pytest.raises(dt.ConfigurationError, match="DT150"):
        dt.TrainingNetwork(new_stack(known=False), "Network", availability_zone_index=2)
    with pytest.raises(dt.ConfigurationError, match="DT150"):
        dt.TrainingNetwork(new_stack(), "Network", availability_zone_index=-1)


def test_a_fourth_zone_is_doubted():
    stack = new_stack()
    dt.TrainingNetwork(stack, "Network", availability_zone_index=3)
    (warning,) = warnings_of(stack)
    assert "DT150" in warning


def test_a_place_that_is_a_token():
    stack = new_stack(known=False)
    place = cdk.CfnParameter(stack, "Place", type="Number").value_as_number
    dt.TrainingNetwork(stack, "Network", availability_zone_index=place)
    assert subnet_of(stack)["AvailabilityZone"] == {"Fn::Select": [{"Ref": "Place"}, {"Fn::GetAZs": ""}]}


def test_by_id_as_reservations_and_training_plans_name_it():
    stack = new_stack()
    network = dt.TrainingNetwork(stack, "Network", availability_zone_id="use1-az4")
    assert subnet_of(stack)["AvailabilityZoneId"] == "use1-az4"
    assert "AvailabilityZone" not in subnet_of(stack)
    assert network.availability_zone_id == "use1-az4"


def test_without_an_id_the_subnet_says_it_when_deployed():
    stack = new_stack()
    network = dt.TrainingNetwork(stack, "Network", availability_zone="us-east-1d")
    assert stack.resolve(network.availability_zone_id)["Fn::GetAtt"][1] == "AvailabilityZoneId"


@pytest.mark.parametrize(
    ("region", "good", "bad"),
    [
        ("us-east-1", "use1-az4", "usw2-az4"),
        ("ap-southeast-2", "apse2-az1", "apne2-az1"),
        ("us-gov-west-1", "usgw1-az1", "usw1-az1"),
        ("us-west-2", "usw2-lax1-az1", "use1-az1"),
        ("cn-north-1", "cnn1-az1", "cnnw1-az1"),
    ],
)
def test_an_id_of_another_region_is_refused(region, good, bad):
    stack = cdk.Stack(cdk.App(), "S", env=cdk.Environment(account="111111111111", region=region))
    dt.TrainingNetwork(stack, "Good", availability_zone_id=good)
    with pytest.raises(dt.ConfigurationError, match="DT103"):
        dt.TrainingNetwork(stack, "Bad", availability_zone_id=bad)


def test_one_way_at_a_time():
    with pytest.raises(dt.ConfigurationError, match="DT101"):
        dt.TrainingNetwork(new_stack(), "Network", availability_zone="us-east-1a", availability_zone_index=0)


@pytest.mark.parametrize(("index", "subnet"), [(0, "subnet-a"), (2, "subnet-c")])
def test_by_place_on_an_existing_vpc(index, subnet):
    stack = new_stack()
    network = dt.TrainingNetwork(stack, "Network", vpc=three_zones(stack), availability_zone_index=index)
    assert network.subnet.subnet_id == subnet


def test_a_place_that_the_existing_vpc_lacks():
    stack = new_stack()
    with pytest.raises(dt.ConfigurationError, match="below 3"):
        dt.TrainingNetwork(stack, "Network", vpc=three_zones(stack), availability_zone_index=3)


def test_the_two_zones_of_a_vpc_in_a_stack_for_any_region():
    stack = new_stack(known=False)
    vpc = ec2.Vpc(stack, "Vpc", max_azs=3)
    network = dt.TrainingNetwork(stack, "Network", vpc=vpc, availability_zone_index=1)
    assert stack.resolve(network.subnet.subnet_id) == stack.resolve(vpc.private_subnets[1].subnet_id)
    with pytest.raises(dt.ConfigurationError, match="DT157"):
        dt.TrainingNetwork(stack, "Third", vpc=vpc, availability_zone_index=2)


def test_an_id_on_an_existing_vpc_takes_the_subnet():
    stack = new_stack()
    vpc = three_zones(stack)
    network = dt.TrainingNetwork(
        stack, "Network", vpc=vpc, subnet=vpc.private_subnets[1], availability_zone_id="use1-az2"
    )
    assert network.availability_zone_id == "use1-az2"
    with pytest.raises(dt.ConfigurationError, match="DT158"):
        dt.TrainingNetwork(stack, "Which", vpc=vpc, availability_zone_id="use1-az2")


@pytest.mark.parametrize("count", [1, 2, 3])
def test_one_to_three_zones_and_training_takes_one(count):
    stack = new_stack()
    vpc = ec2.Vpc(stack, "Vpc", availability_zones=[f"us-east-1{zone}" for zone in "abc"[:count]])
    network = dt.TrainingNetwork(stack, "Network", vpc=vpc)
    dt.LustreFileSystem(stack, "Corpus", network=network, storage_capacity=cdk.Size.gibibytes(1200))
    (found,) = Template.from_stack(stack).find_resources("AWS::FSx::FileSystem").values()
    assert found["Properties"]["SubnetIds"] == [stack.resolve(vpc.private_subnets[0].subnet_id)]
