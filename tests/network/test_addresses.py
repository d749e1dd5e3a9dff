"""Arithmetic of addresses, and networks that are too small for their instances."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2

import cdk_distributed_training as dt
from cdk_distributed_training.network import addresses
from cdk_distributed_training.request.instance_group import InstanceGroup
from cdk_distributed_training.request.instance_preference import InstancePreference
from cdk_distributed_training.request.instances import Instances


@pytest.mark.parametrize(
    ("instance_type", "each"),
    [
        ("ml.m5.large", 2),
        ("ml.g5.xlarge", 2),
        ("ml.p4d.24xlarge", 5),
        ("ml.trn1.32xlarge", 9),
        ("ml.p5.48xlarge", 33),
        ("ml.not-known-yet", 5),
    ],
)
def test_one_instance(instance_type, each):
    assert addresses.addresses_per_instance(Instances(instance_type).facts) == each


def test_all_together():
    instances = [Instances("ml.p4d.24xlarge", count=4), Instances("ml.m5.large", count=1)]
    assert addresses.addresses_needed(instances, overlap=2, endpoints=4) == 2 * (4 * 5 + 2) + 4 + 16


@pytest.mark.parametrize(("prefix", "usable"), [(28, 11), (24, 251), (17, 32763)])
def test_ranges(prefix, usable):
    assert addresses.usable_addresses(prefix) == usable
    assert addresses.prefix_for(usable) == prefix
    assert addresses.prefix_for(usable + 1) == prefix - 1


def test_blocks():
    assert addresses.first_block("10.0.0.0/24", 26) == "10.0.0.0/26"
    assert addresses.last_block("10.0.0.0/24", 28) == "10.0.0.240/28"


def new_network(**props) -> dt.TrainingNetwork:
    return dt.TrainingNetwork(cdk.Stack(cdk.App(), "S"), "Network", interface_endpoints=[], flow_log=False, **props)


def test_the_subnet_grows_to_the_whole_range_only_if_it_must():
    nodes = [Instances("ml.p5.48xlarge", count=3)]  # 198 addresses, and 16 others
    assert new_network(cidr="10.0.0.0/24").usable_addresses == 123
    assert new_network(cidr="10.0.0.0/24", instances=nodes).usable_addresses == 251
    assert new_network(cidr="10.0.0.0/22", instances=nodes).usable_addresses == 507


@pytest.mark.parametrize(
    ("props", "prop"),
    [
        ({"cidr": "10.0.0.0/24"}, "cidr"),
        ({"subnet_mask": 25}, "subnet_mask"),
        ({"secondary_cidr": "100.64.0.0/25"}, "cidr"),
    ],
)
def test_a_subnet_that_cannot_hold_the_instances_is_refused(props, prop):
    with pytest.raises(dt.ConfigurationError, match="DT151") as caught:
        new_network(instances=[Instances("ml.p5.48xlarge", count=16)], **props)
    (finding,) = caught.value.findings
    assert finding.prop == prop
    assert "1,072" in finding.allowed
    assert "at most 21" in finding.fix


def test_without_overlap_half_as_many():
    nodes = [Instances("ml.p5.48xlarge", count=3)]
    assert new_network(cidr="10.0.0.0/24", instances=nodes, address_overlap=1).usable_addresses == 123


@pytest.mark.parametrize("overlap", [0, 1.5, float("nan"), float("inf")])
def test_an_overlap_that_counts_nothing(overlap):
    with pytest.raises(dt.ConfigurationError, match=r"address_overlap: .*DT159") as caught:
        new_network(instances=[Instances("ml.p5.48xlarge", count=3)], address_overlap=overlap)
    assert len(caught.value.findings) == 1


@pytest.mark.parametrize("mask", [15, 29, 24.5, float("nan")])
def test_a_mask_that_is_no_prefix_length(mask):
    with pytest.raises(dt.ConfigurationError, match=r"subnet_mask: .*whole numbers from 16 .* to 28.*DT105"):
        new_network(subnet_mask=mask)


def test_more_than_a_vpc_can_hold():
    with pytest.raises(dt.ConfigurationError, match="split the instances"):
        new_network(instances=[Instances("ml.p5.48xlarge", count=1000)])


def test_counts_that_are_tokens_are_not_counted():
    stack = cdk.Stack(cdk.App(), "S")
    count = cdk.CfnParameter(stack, "Count", type="Number").value_as_number
    network = dt.TrainingNetwork(
        stack, "Network", cidr="10.0.0.0/28", instances=[Instances("ml.p5.48xlarge", count=count)]
    )
    assert network.usable_addresses == 11


def test_a_range_that_is_a_token_is_not_judged():
    stack = cdk.Stack(cdk.App(), "S")
    cidr = cdk.CfnParameter(stack, "Cidr").value_as_string
    nodes = [Instances("ml.p5.48xlarge", count=1000)]
    network = dt.TrainingNetwork(stack, "Network", cidr=cidr, instances=nodes)
    assert network.usable_addresses is None


def test_an_existing_subnet_is_judged_if_it_knows_its_range():
    stack = cdk.Stack(cdk.App(), "S")
    vpc = ec2.Vpc.from_vpc_attributes(stack, "Vpc", vpc_id="vpc-1", availability_zones=["us-east-1a"])
    small = ec2.Subnet.from_subnet_attributes(
        stack, "Small", subnet_id="subnet-1", availability_zone="us-east-1a", ipv4_cidr_block="10.0.0.0/26"
    )
    unknown = ec2.Subnet.from_subnet_attributes(stack, "Unknown", subnet_id="subnet-2", availability_zone="us-east-1a")
    nodes = [Instances("ml.p4d.24xlarge", count=8)]
    with pytest.raises(dt.ConfigurationError, match="DT151"):
        dt.TrainingNetwork(stack, "A", vpc=vpc, subnet=small, instances=nodes)
    assert dt.TrainingNetwork(stack, "B", vpc=vpc, subnet=unknown, instances=nodes).usable_addresses is None
    assert dt.TrainingNetwork(stack, "C", vpc=vpc, subnet=small).usable_addresses == 59


def test_groups_add_up_and_preferences_take_the_most():
    groups = [
        InstanceGroup(name="a", instance_type="ml.m5.large"),
        InstanceGroup(name="b", instance_type="ml.p4d.24xlarge"),
    ]
    both = addresses.addresses_needed([Instances.from_groups(groups)], overlap=1, endpoints=0)
    each = [addresses.addresses_needed([Instances(group.instance_type)], overlap=1, endpoints=0) for group in groups]
    nothing = addresses.addresses_needed([], overlap=1, endpoints=0)
    assert both - nothing == sum(one - nothing for one in each)
    preferences = [InstancePreference(instance_type=group.instance_type) for group in groups]
    assert addresses.addresses_needed([Instances.from_preferences(preferences)], overlap=1, endpoints=0) == max(each)
