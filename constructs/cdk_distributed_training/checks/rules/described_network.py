"""What the rules over a network's own properties are about (DT101 to DT112, DT150 to DT159)."""

from cdk_distributed_training.checks.examples import given
from cdk_distributed_training.checks.findings import Severity
from cdk_distributed_training.checks.rule import rule
from cdk_distributed_training.checks.rules import network, network_groups, network_ranges, network_zones

_ZONES = "https://docs.aws.amazon.com/global-infrastructure/latest/regions/az-ids.html"
_SIZES = "https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html"
_TRAIN_VPC = "https://docs.aws.amazon.com/sagemaker/latest/dg/train-vpc.html"
_RANGES = "https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html"
_EFA = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html#efa-start-security"

rule(
    "DT101",
    title="Properties of which only one may be given",
    why="They say the same thing in different ways, and may contradict each other.",
    bad=given(given=["availability_zone", "availability_zone_id"], why="both name the zone", fix="leave out one"),
    good=given(given=["availability_zone"], why="both name the zone", fix="leave out one"),
)(network.exclusive)
rule(
    "DT102",
    title="A zone that is named by its id, or lies in another region",
    why="The deployment fails when the subnet is made.",
    source=_ZONES,
    bad=given(name="use1-az4", region="us-east-1"),
    good=given(name="us-east-1d", region="us-east-1"),
)(network_zones.zone_name)
rule(
    "DT103",
    title="A zone's id that is none",
    why="The deployment fails when the subnet is made.",
    source=_ZONES,
    bad=given(identifier="us-east-1d"),
    good=given(identifier="use1-az4"),
)(network_zones.zone_id)
rule(
    "DT104",
    title="A range of addresses that no VPC can have",
    why="The deployment fails when the VPC is made.",
    source=_SIZES,
    bad=given(cidr="10.0.0.0/8"),
    good=given(cidr="10.0.0.0/16"),
)(network.vpc_cidr)
rule(
    "DT105",
    title="A subnet that does not fit into its VPC",
    why="The deployment fails when the subnet is made.",
    source=_TRAIN_VPC,
    bad=given(mask=16, vpc_prefix=20),
    good=given(mask=22, vpc_prefix=20),
)(network.subnet_mask)
rule(
    "DT106",
    title="A selection that leaves no subnet",
    why="Without this, CDK goes on with an empty list, and the deployment fails.",
    source=_TRAIN_VPC,
    bad=given(candidates=[], zones=["us-east-1a"], wanted="us-east-1d", prop="availability_zone"),
    good=given(candidates=["subnet-0123"], zones=["us-east-1a"], wanted="us-east-1a", prop="availability_zone"),
)(network.one_subnet)
rule(
    "DT107",
    title="A subnet of another zone than the one that is named",
    why="The nodes would start elsewhere than the file system or the reservation is.",
    bad=given(asked="us-east-1a", subnet="us-east-1b"),
    good=given(asked="us-east-1a", subnet="us-east-1a"),
)(network_zones.same_zone)
rule(
    "DT109",
    severity=Severity.WARNING,
    title="A group that may not be changed and needs rules",
    why="Nothing adds the rules: the first collective hangs unless the group's owner has them.",
    source=_EFA,
    bad=given(openings=["all traffic from the group itself"], prop="node_security_group"),
    good=given(openings=[], prop="node_security_group"),
)(network_groups.unchangeable_group)
rule(
    "DT110",
    title="A property of a new VPC on an existing one",
    why="It would be ignored.",
    bad=given(given=["cidr"]),
    good=given(given=[]),
)(network.needs_own_vpc)
rule(
    "DT111",
    title="A choice of subnet without a VPC",
    why="It would be ignored.",
    bad=given(given=["subnet"]),
    good=given(given=[]),
)(network.needs_existing_vpc)
rule(
    "DT112",
    severity=Severity.WARNING,
    title="An isolated or public subnet that may have no way to S3",
    why="Channels and model artifacts cannot move: the job fails when it downloads its input.",
    source=_TRAIN_VPC,
    bad=given(vpc_subnet="subnet-1", kind="isolated"),
)(network.gateway_endpoint)
rule(
    "DT162",
    title="A network or a bucket of another region",
    why="Subnets and groups are unknown there, and SageMaker reads from buckets of its own region only: the job or the "
    "file system cannot be made.",
    source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_S3DataSource.html",
    bad=given(prop="network", there="eu-west-1", here="us-east-1"),
    good=given(prop="network", there="us-east-1", here="us-east-1"),
)(network.same_region)
rule(
    "DT150",
    title="A zone by an index that not every region has",
    why="Where there are fewer zones the deployment fails, since Fn::Select is out of range.",
    source=_ZONES,
    bad=given(index=2, region=None),
    good=given(index=2, region="us-east-1"),
)(network_zones.zone_index)
rule(
    "DT151",
    title="A subnet with too few addresses for the instances",
    why="Jobs fail to start when addresses run out, and a subnet's range cannot be changed.",
    source=_TRAIN_VPC,
    bad=given(needed=600, usable=251, prefix=22, prop="subnet_mask"),
    good=given(needed=600, usable=1019, prefix=22, prop="subnet_mask"),
)(network_ranges.enough_addresses)
rule(
    "DT152",
    title="A second range that shares addresses with the first",
    why="The deployment fails when the range is added.",
    source=_RANGES,
    bad=given(cidr="10.0.0.0/18", primary="10.0.0.0/16"),
    good=given(cidr="100.64.0.0/16", primary="10.0.0.0/16"),
)(network_ranges.secondary_cidr)
rule(
    "DT153",
    title="No room for a NAT gateway's subnet",
    why="The deployment fails when the second subnet is made.",
    source=_RANGES,
    bad=given(training="10.0.0.0/16", public="10.0.255.240/28"),
    good=given(training="10.0.0.0/17", public="10.0.255.240/28"),
)(network_ranges.room_for_public_subnet)
rule(
    "DT154",
    severity=Severity.WARNING,
    title="More rules than a group may have",
    why="The deployment fails at the 61st rule, unless the account's quota was raised.",
    source="https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html",
    bad=given(count=61, group="Nodes"),
    good=given(count=60, group="Nodes"),
)(network_groups.rules_per_group)
rule(
    "DT155",
    title="What exists once for each VPC, made twice",
    why="The deployment fails when the second one is made.",
    source="https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html",
    bad=given(what="an endpoint with private DNS for logs", prop="endpoints", first="Stack/Network"),
)(network.made_twice)
rule(
    "DT156",
    title="A gateway endpoint on a route table that is not known",
    why="Nothing can be added to it.",
    source="https://docs.aws.amazon.com/vpc/latest/privatelink/vpc-endpoints-s3.html",
    bad=given(subnet="subnet-0123"),
)(network.endpoint_route_table)
rule(
    "DT157",
    title="A zone by an index that the VPC does not have",
    why="There is no such subnet.",
    bad=given(index=2, zones=["us-east-1a", "us-east-1b"]),
    good=given(index=1, zones=["us-east-1a", "us-east-1b"]),
)(network_zones.zone_of_index)
rule(
    "DT158",
    title="A zone's id among several subnets",
    why="CDK knows the zones of existing subnets by name only.",
    source=_ZONES,
    bad=given(subnets=2),
    good=given(subnets=1),
)(network_zones.zone_id_on_vpc)
rule(
    "DT159",
    title="A count below one",
    why="Nothing is counted from less.",
    bad=given(values=[("concurrent_jobs", 0)]),
    good=given(values=[("concurrent_jobs", 1)]),
)(network_ranges.positive)
