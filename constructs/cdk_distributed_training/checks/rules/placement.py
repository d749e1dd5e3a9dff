"""Where nodes and file systems are: zones, subnets and their addresses (DT108, DT130 to DT134, DT139 to DT145)."""

from __future__ import annotations

from collections.abc import Iterator

from cdk_distributed_training.checks.examples import (
    Data,
    Example,
    in_vpc,
    job,
    machines,
    open_to_itself,
    request,
    subnet_in,
    template,
)
from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.checks.rule import at, problem, rule
from cdk_distributed_training.checks.rules import network_groups
from cdk_distributed_training.checks.subjects.node_group import NodeGroup
from cdk_distributed_training.checks.subjects.subnets import made_here, of_ids, zone_words
from cdk_distributed_training.checks.subjects.training_request import TrainingRequest
from cdk_distributed_training.checks.template.values import ZoneByIndex
from cdk_distributed_training.checks.template.view import values

_EFA = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html#efa-limits"
_TRAIN_VPC = "https://docs.aws.amazon.com/sagemaker/latest/dg/train-vpc.html"
_VPC_CONFIG = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_VpcConfig.html"
_CHANNEL = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_FileSystemDataSource.html"
# these talk EFA only among themselves
_EFA_APART = ("ml.p4d.", "ml.p4de.", "ml.dl1.")


def _by_index(index: int) -> Data:
    return {"Fn::Select": [index, {"Fn::GetAZs": ""}]}


def _on(*subnets: str, instance_type: str = "ml.p5.48xlarge", count: int = 2) -> Data:
    vpc = in_vpc(["Nodes"], [{"Ref": name} for name in subnets])
    return {**open_to_itself("Nodes"), "Job": job(ResourceConfig=machines(instance_type, count), VpcConfig=vpc)}


def _reserved(zone: str) -> Example:
    """A launch template on a reservation in a zone."""
    interface = {
        "DeviceIndex": 0,
        "InterfaceType": "efa",
        "SubnetId": {"Ref": "A"},
        "Groups": [{"Fn::GetAtt": ["Nodes", "GroupId"]}],
    }
    target = {"CapacityReservationTarget": {"CapacityReservationId": {"Ref": "Reservation"}}}
    data = {"NetworkInterfaces": [interface], "CapacityReservationSpecification": target}
    reservation = {"AvailabilityZone": zone, "InstanceType": "p5.48xlarge", "InstancePlatform": "Linux/UNIX"}
    return template(
        {
            **open_to_itself("Nodes"),
            "A": subnet_in("us-east-1a"),
            "Reservation": {"Type": "AWS::EC2::CapacityReservation", "Properties": {**reservation, "InstanceCount": 2}},
            "Template": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": data}},
        }
    )


@rule(
    "DT108",
    on=TrainingRequest,
    title="More than five security groups",
    why="SageMaker refuses the request: five groups at most are attached to a job.",
    source=_VPC_CONFIG,
    bad=request(VpcConfig={"SecurityGroupIds": [f"sg-{n}" for n in range(6)], "Subnets": ["subnet-0123456789"]}),
    good=request(VpcConfig={"SecurityGroupIds": [f"sg-{n}" for n in range(5)], "Subnets": ["subnet-0123456789"]}),
)
def security_group_count(job_request: TrainingRequest) -> Iterator[Finding]:
    """DT108 of a request."""
    groups = values(job_request.view, "VpcConfig", "SecurityGroupIds")
    yield from at(network_groups.security_group_count(len(groups)), "VpcConfig", "SecurityGroupIds")


@rule(
    "DT130",
    on=NodeGroup,
    title="EFA nodes over several availability zones",
    why="EFA does not cross zones: whenever nodes land in different ones, the first collective hangs or fails.",
    source=_EFA,
    bad=template({"A": subnet_in(_by_index(0)), "B": subnet_in(_by_index(1), "10.0.16.0/20"), **_on("A", "B")}),
    good=template({"A": subnet_in(_by_index(0)), **_on("A")}),
)
def one_zone(nodes: NodeGroup) -> Iterator[Finding]:
    """DT130: all subnets of EFA nodes lie in one zone."""
    if not (nodes.in_vpc and nodes.is_multi_node and nodes.efa()):
        return
    zones = {zone_words(subnet.zone): None for subnet in made_here(nodes.graph, nodes.subnet_ids)}
    if len(zones) > 1:
        yield problem(
            *nodes.subnets_key,
            got=f"subnets in {' and '.join(zones)}",
            allowed="subnets in one zone",
            fix="give the nodes one subnet",
        )


@rule(
    "DT131",
    on=NodeGroup,
    severity=Severity.WARNING,
    title="EFA nodes with more subnets than one",
    why="EFA does not cross zones, and SageMaker may use any of the subnets: where these are in different zones the job"
    " fails, and where they are in one the second is of no use.",
    source=_EFA,
    bad=request(
        ResourceConfig=machines("ml.p5.48xlarge", 2),
        VpcConfig={"SecurityGroupIds": ["sg-0123456789"], "Subnets": ["subnet-0123456789", "subnet-9876543210"]},
    ),
    good=request(
        ResourceConfig=machines("ml.p5.48xlarge", 2),
        VpcConfig={"SecurityGroupIds": ["sg-0123456789"], "Subnets": ["subnet-0123456789"]},
    ),
)
def onesubnet(nodes: NodeGroup) -> Iterator[Finding]:
    """DT131: where the zones are not known, a second subnet is a risk without a use."""
    if not (nodes.is_training_job and nodes.in_vpc and nodes.is_multi_node and nodes.efa()):
        return
    subnets = nodes.subnet_ids
    if len(subnets) > 1 and len(made_here(nodes.graph, subnets)) < len(subnets):
        yield problem(*nodes.subnets_key, got=f"{len(subnets)} subnets", allowed="one subnet", fix="name one of them")


@rule(
    "DT139",
    on=NodeGroup,
    severity=Severity.WARNING,
    title="Subnets with too few addresses for the nodes",
    why="Each node takes at least two addresses, with EFA at least five; a restart or a second job takes as many again."
    " Without free addresses a job fails to start, and a subnet's range cannot be changed.",
    source=_TRAIN_VPC,
    bad=template({"A": subnet_in("us-east-1a", "10.0.0.0/27"), **_on("A", count=16)}),
    good=template({"A": subnet_in("us-east-1a", "10.0.0.0/24"), **_on("A", count=16)}),
)
def addresses(nodes: NodeGroup) -> Iterator[Finding]:
    """DT139: the documented minimum, for one run."""
    if not nodes.in_vpc:
        return
    available = sum(subnet.addresses for subnet in of_ids(nodes.graph, nodes.subnet_ids))
    each = 5 if nodes.efa() else 2
    wanted = int(nodes.count()) * each
    if nodes.subnet_ids and wanted > available:
        yield problem(
            *nodes.subnets_key,
            got=f"{available} addresses for {nodes.count():g} nodes",
            allowed=f"at least {wanted}, {each} for each node",
            fix="choose a larger range, such as a /20",
        )


@rule(
    "DT141",
    on=NodeGroup,
    severity=Severity.WARNING,
    title="A zone by an index that not every region has",
    why="Some regions offer an account two zones only: there the deployment fails, since Fn::Select is out of range.",
    source="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-getavailabilityzones.html",
    bad=template({"A": subnet_in(_by_index(2)), **_on("A")}),
    good=template({"A": subnet_in(_by_index(1)), **_on("A")}),
)
def zone_index(nodes: NodeGroup) -> Iterator[Finding]:
    """DT141: the first two exist everywhere."""
    for subnet in made_here(nodes.graph, nodes.subnet_ids if nodes.in_vpc else []):
        zone = subnet.zone
        if isinstance(zone, ZoneByIndex) and zone.index > 1 and not zone.region:
            yield problem(
                *nodes.subnets_key,
                got=f"{subnet.resource.logical_id} in the zone of index {zone.index}, in whichever region",
                allowed="index 0 or 1, or a zone by name",
                fix="take the zone as a parameter of type AWS::EC2::AvailabilityZone::Name",
            )


@rule(
    "DT142",
    on=TrainingRequest,
    title="EFA instance types that cannot talk to each other",
    why="P4d, P4de and DL1 instances speak EFA only among themselves: a cluster that mixes them with others hangs.",
    source=_EFA,
    bad=request(
        ResourceConfig={
            "InstanceType": None,
            "InstanceCount": None,
            "InstanceGroups": [
                {"InstanceGroupName": "old", "InstanceType": "ml.p4d.24xlarge", "InstanceCount": 2},
                {"InstanceGroupName": "new", "InstanceType": "ml.p5.48xlarge", "InstanceCount": 2},
            ],
        }
    ),
    good=request(
        ResourceConfig={
            "InstanceType": None,
            "InstanceCount": None,
            "InstanceGroups": [
                {"InstanceGroupName": "old", "InstanceType": "ml.p5.48xlarge", "InstanceCount": 2},
                {"InstanceGroupName": "new", "InstanceType": "ml.p5e.48xlarge", "InstanceCount": 2},
            ],
        }
    ),
)
def types_that_talk(job_request: TrainingRequest) -> Iterator[Finding]:
    """DT142: across the groups of one cluster."""
    config = job_request.view.view("ResourceConfig")
    names = [row.text("InstanceType") or "" for row in config.items("InstanceGroups")]
    if len(names) > 1 and job_request.uses_efa:
        families = {name.rsplit(".", 1)[0] + "." for name in names}
        apart = families & set(_EFA_APART)
        if apart and len(families) > 1 and families != {"ml.p4d.", "ml.p4de."}:
            yield problem(
                "ResourceConfig",
                "InstanceGroups",
                got=" and ".join(sorted(set(names))),
                allowed="P4d, P4de and DL1 only with their own kind",
                fix="use one family of types",
            )


@rule(
    "DT145",
    on=NodeGroup,
    title="A training job in a VPC of dedicated tenancy",
    why="SageMaker refuses the request: training jobs run in VPCs of default tenancy only.",
    source=_VPC_CONFIG,
    bad=template(
        {
            "Vpc": {
                "Type": "AWS::EC2::VPC",
                "Properties": {"CidrBlock": "10.0.0.0/16", "InstanceTenancy": "dedicated"},
            },
            "A": subnet_in("us-east-1a")
            | {"Properties": {**subnet_in("us-east-1a")["Properties"], "VpcId": {"Ref": "Vpc"}}},
            **_on("A"),
        }
    ),
    good=template(
        {
            "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
            "A": subnet_in("us-east-1a")
            | {"Properties": {**subnet_in("us-east-1a")["Properties"], "VpcId": {"Ref": "Vpc"}}},
            **_on("A"),
        }
    ),
)
def tenancy(nodes: NodeGroup) -> Iterator[Finding]:
    """DT145: the subnets' VPC."""
    if not (nodes.is_training_job and nodes.in_vpc):
        return
    for subnet in made_here(nodes.graph, nodes.subnet_ids):
        vpc = nodes.graph.target(subnet.vpc, "AWS::EC2::VPC")
        if vpc is not None and vpc.properties.text("InstanceTenancy") == "dedicated":
            yield problem(
                *nodes.subnets_key,
                got=f"a subnet of {vpc.logical_id}, whose tenancy is dedicated",
                allowed="default tenancy",
                fix="use another VPC",
            )
            return


@rule(
    "DT146",
    on=NodeGroup,
    title="A capacity reservation in another zone than the nodes",
    why="The instances do not start: a reservation holds capacity of its own zone only.",
    source="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-using.html",
    bad=_reserved("us-east-1b"),
    good=_reserved("us-east-1a"),
)
def reserved_zone(nodes: NodeGroup) -> Iterator[Finding]:
    """DT146: both zones are known, and differ."""
    identifier = nodes.read.raw(*nodes.reservation_key) if nodes.reservation_key else None
    reservation = nodes.graph.target(identifier, "AWS::EC2::CapacityReservation")
    if reservation is None:
        return
    reserved = reservation.properties.text("AvailabilityZone")
    zones = [subnet.zone for subnet in of_ids(nodes.graph, nodes.subnet_ids)]
    if reserved and zones and all(isinstance(zone, str) and zone != reserved for zone in zones):
        yield problem(
            *nodes.subnets_key,
            got=f"a subnet in {zone_words(zones[0])}, a reservation in {reserved}",
            allowed=f"subnets in {reserved}",
            fix="use a subnet of the reservation's zone",
        )
