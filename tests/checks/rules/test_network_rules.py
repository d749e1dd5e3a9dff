"""Rules DT1xx over plain values; what tokens do is tested where the constructs filter them."""

import pytest

from cdk_distributed_training.checks.findings import Severity
from cdk_distributed_training.checks.rules import network as rules
from cdk_distributed_training.checks.rules import network_groups, network_zones


def ids(findings) -> list[str]:
    return [finding.rule for finding in findings]


@pytest.mark.parametrize(
    ("name", "region", "found"),
    [
        ("us-east-1d", "us-east-1", []),
        ("us-east-1d", None, []),
        ("us-gov-west-1a", "us-gov-west-1", []),
        ("us-west-2-lax-1a", "us-west-2", []),
        ("cn-north-1a", "cn-north-1", []),
        ("use1-az4", "us-east-1", ["DT102"]),
        ("us-east-1d", "us-west-2", ["DT102"]),
        ("a-zone-of-tomorrow", "us-east-1", []),
    ],
)
def test_zone_name(name, region, found):
    assert ids(network_zones.zone_name(name, region=region)) == found


@pytest.mark.parametrize(
    ("identifier", "found"),
    [
        ("use1-az4", []),
        ("usw2-lax1-az1", []),
        ("usgw1-az1", []),
        ("cnn1-az1", []),
        ("us-east-1a", ["DT103"]),
        ("", ["DT103"]),
    ],
)
def test_zone_id(identifier, found):
    assert ids(network_zones.zone_id(identifier)) == found


def test_a_name_in_place_of_an_id_is_told_where_it_belongs():
    (finding,) = network_zones.zone_id("us-east-1a")
    assert finding.fix == "pass it as availability_zone"


@pytest.mark.parametrize(
    ("cidr", "found"),
    [
        ("10.0.0.0/16", []),
        ("10.0.0.0/28", []),
        ("10.0.0.0/15", ["DT104"]),
        ("10.0.0.0/29", ["DT104"]),
        ("10.0.0.1/16", ["DT104"]),
        ("300.0.0.0/16", ["DT104"]),
        ("fd00::/56", ["DT104"]),
    ],
)
def test_vpc_cidr(cidr, found):
    assert ids(rules.vpc_cidr(cidr)) == found


@pytest.mark.parametrize(
    ("mask", "prefix", "found"),
    [
        (17, 16, []),
        (16, 16, []),
        (28, 16, []),
        (16, None, []),
        (15, 16, ["DT105"]),
        (29, 16, ["DT105"]),
        (20, 24, ["DT105"]),
    ],
)
def test_subnet_mask(mask, prefix, found):
    assert ids(rules.subnet_mask(mask, vpc_prefix=prefix)) == found


def test_exclusive():
    assert not ids(rules.exclusive(["a"], why="", fix=""))
    (finding,) = rules.exclusive(["a", "b"], why="both do it", fix="leave one out")
    assert (finding.rule, finding.prop) == ("DT101", "a and b")


def test_one_subnet():
    assert not ids(rules.one_subnet(["subnet-1"], zones=["a"], wanted=None, prop="vpc"))
    (finding,) = rules.one_subnet([], zones=["b", "a", "b"], wanted="c", prop="availability_zone")
    assert finding.rule == "DT106"
    assert "a, b" in finding.allowed
    (finding,) = rules.one_subnet([], zones=[], wanted=None, prop="vpc")
    assert "none" in finding.allowed


def test_same_zone():
    assert not ids(network_zones.same_zone(asked="a", subnet="a"))
    assert ids(network_zones.same_zone(asked="a", subnet="b")) == ["DT107"]


@pytest.mark.parametrize(("count", "found"), [(1, []), (5, []), (6, ["DT108"])])
def test_security_group_count(count, found):
    assert ids(network_groups.security_group_count(count)) == found


def test_warnings_are_warnings():
    assert not list(network_groups.unchangeable_group([], prop="security_group"))
    for findings in (
        network_groups.unchangeable_group(["tcp 988"], prop="security_group"),
        rules.gateway_endpoint(vpc_subnet="subnet-1", kind="isolated"),
        network_groups.allow_all_may_go("sg-1"),
    ):
        (finding,) = findings
        assert finding.severity is Severity.WARNING


def test_properties_of_another_kind_of_vpc():
    assert ids(rules.needs_own_vpc(["cidr", "subnet_mask"])) == ["DT110", "DT110"]
    assert ids(rules.needs_existing_vpc(["subnet"])) == ["DT111"]
    assert not [*rules.needs_own_vpc([]), *rules.needs_existing_vpc([])]


def test_every_finding_names_the_property_and_the_remedy():
    (finding,) = rules.vpc_cidr("10.0.0.0/8")
    assert str(finding).startswith("cidr: got '10.0.0.0/8'; allowed: ")
    assert finding.fix
    assert finding.source.startswith("https://docs.aws.amazon.com/")
