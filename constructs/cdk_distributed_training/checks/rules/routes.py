"""How nodes reach AWS's services: routes and endpoints (DT135 to DT138)."""

from __future__ import annotations

from collections.abc import Iterator

from cdk_distributed_training.checks.examples import Data, Example, group, in_vpc, job, template
from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.checks.rule import problem, rule
from cdk_distributed_training.checks.subjects.node_group import NodeGroup
from cdk_distributed_training.checks.subjects.security_groups import INGRESS, SecurityGroups
from cdk_distributed_training.checks.subjects.subnets import Subnet, of_ids
from cdk_distributed_training.checks.template.graph import Graph, Resource
from cdk_distributed_training.checks.template.values import PartialText, Token, differ
from cdk_distributed_training.checks.template.view import NotJudgedError, View, values

_TRAIN_VPC = "https://docs.aws.amazon.com/sagemaker/latest/dg/train-vpc.html"
_ENDPOINTS = "https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html"
_ENDPOINT = "AWS::EC2::VPCEndpoint"
# what a job's container or its tools call by the services' usual names
_CALLED = (".sagemaker.api", ".logs", ".sts", ".ecr.api", ".ecr.dkr", ".monitoring", ".kms", ".secretsmanager", ".ssm")


def _network(**resources: Data) -> Example:
    """A job in a private subnet with a route table of its own."""
    return template(
        {
            "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
            "Subnet": {
                "Type": "AWS::EC2::Subnet",
                "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.0.0.0/20", "AvailabilityZone": "us-east-1a"},
            },
            "Routes": {"Type": "AWS::EC2::RouteTable", "Properties": {"VpcId": {"Ref": "Vpc"}}},
            "RoutesOfSubnet": {
                "Type": "AWS::EC2::SubnetRouteTableAssociation",
                "Properties": {"SubnetId": {"Ref": "Subnet"}, "RouteTableId": {"Ref": "Routes"}},
            },
            "Nodes": group(VpcId={"Ref": "Vpc"}),
            "Job": job(VpcConfig=in_vpc(["Nodes"], [{"Ref": "Subnet"}])),
            **resources,
        }
    )


def _endpoint(service: str, kind: str, **properties: object) -> Data:
    name = {"Fn::Sub": f"com.amazonaws.${{AWS::Region}}.{service}"}
    common = {"VpcId": {"Ref": "Vpc"}, "ServiceName": name, "VpcEndpointType": kind}
    return {"Type": _ENDPOINT, "Properties": {**common, **properties}}


_GATEWAY = _endpoint("s3", "Gateway", RouteTableIds=[{"Ref": "Routes"}])
_DEFAULT_ROUTE = {"RouteTableId": {"Ref": "Routes"}, "DestinationCidrBlock": "0.0.0.0/0"}


def _interface(**properties: object) -> Data:
    return _endpoint("logs", "Interface", SubnetIds=[{"Ref": "Subnet"}], **properties)


@rule(
    "DT135",
    on=NodeGroup,
    title="A training job without a way to S3",
    why="SageMaker moves data and models through the job's own network interfaces: without a route to S3 the job fails"
    " when it downloads its input, or only when it uploads the model.",
    source=_TRAIN_VPC,
    bad=_network(),
    good=_network(S3=_GATEWAY),
)
def way_to_s3(nodes: NodeGroup) -> Iterator[Finding]:
    """DT135: a gateway endpoint on the route table, an interface endpoint, or a route that leads out."""
    for subnet in _closed_subnets(nodes):
        if not subnet.has_internet_gateway:
            yield problem(
                *nodes.subnets_key,
                got=f"{subnet.resource.logical_id}, whose route table leads nowhere",
                allowed="an S3 gateway endpoint on the route table, or a route to a NAT gateway",
                fix="add an AWS::EC2::VPCEndpoint of type Gateway for S3 that names the route table",
            )
            return


@rule(
    "DT136",
    on=NodeGroup,
    severity=Severity.WARNING,
    title="A training job whose only way out is an internet gateway",
    why="The job's network interfaces get no public addresses, so an internet gateway forwards nothing of theirs: S3"
    " and ECR are out of reach.",
    source=_TRAIN_VPC,
    bad=_network(
        Out={"Type": "AWS::EC2::Route", "Properties": {**_DEFAULT_ROUTE, "GatewayId": "igw-0123456789abcdef0"}}
    ),
    good=_network(
        Out={"Type": "AWS::EC2::Route", "Properties": {**_DEFAULT_ROUTE, "NatGatewayId": "nat-0123456789abcdef0"}}
    ),
)
def public_subnet(nodes: NodeGroup) -> Iterator[Finding]:
    """DT136: public subnets are no help to a training job."""
    for subnet in _closed_subnets(nodes):
        if subnet.has_internet_gateway:
            yield problem(
                *nodes.subnets_key,
                got=f"{subnet.resource.logical_id}, a public subnet without an S3 gateway endpoint",
                allowed="a private subnet with a NAT gateway, or endpoints",
                fix="move the job to a private subnet, or add an S3 gateway endpoint",
            )
            return


def _closed_subnets(nodes: NodeGroup) -> Iterator[Subnet]:
    """The job's subnets that certainly have no way to S3."""
    if not (nodes.is_training_job and nodes.in_vpc):
        return
    graph = nodes.graph
    for subnet in of_ids(graph, nodes.subnet_ids):
        table = subnet.route_table
        if table is None or graph.target(table, "AWS::EC2::RouteTable") is None or graph.shares:
            raise NotJudgedError(nodes.subnets_key)  # the main route table, or one that others may add to
        if not subnet.has_way_out and not _reaches_s3(graph, subnet, table):
            yield subnet


def _reaches_s3(graph: Graph, subnet: Subnet, table: object) -> bool:
    for endpoint in _endpoints(graph, subnet.vpc):
        name = _service(endpoint)
        if name is None:
            return True  # it may be S3's
        if name.endswith((".s3", ".s3express")):
            view = View(endpoint.properties.value)
            if view.text("VpcEndpointType") == "Interface" or isinstance(view.raw("RouteTableIds"), Token):
                return True
            if any(not differ(one, table) for one in values(view, "RouteTableIds")):
                return True
    return False


@rule(
    "DT137",
    on=NodeGroup,
    severity=Severity.WARNING,
    title="An endpoint without private DNS",
    why="SDKs ask for the service's usual name, which then still leads to its public address: the calls time out where"
    " there is no way out.",
    source=_ENDPOINTS,
    bad=_network(S3=_GATEWAY, Logs=_interface(SecurityGroupIds=["sg-0123456789"])),
    good=_network(S3=_GATEWAY, Logs=_interface(SecurityGroupIds=["sg-0123456789"], PrivateDnsEnabled=True)),
)
def private_dns(nodes: NodeGroup) -> Iterator[Finding]:
    """DT137: CloudFormation's default is none."""
    if not (nodes.is_training_job and nodes.in_vpc):
        return
    graph = nodes.graph
    if any(graph.perhaps_of_type("AWS::Route53::HostedZone")):
        raise NotJudgedError(nodes.subnets_key)  # names may be given in a zone of one's own
    for subnet in of_ids(graph, nodes.subnet_ids):
        for endpoint in _endpoints(graph, subnet.vpc):
            view = View(endpoint.properties.value)
            name = _service(endpoint) or ""
            closed = view.text("VpcEndpointType") == "Interface" and not view.flag("PrivateDnsEnabled")
            if closed and name.endswith(_CALLED) and not subnet.has_way_out:
                yield problem(
                    *nodes.subnets_key,
                    got=f"{endpoint.logical_id}, an interface endpoint without private DNS",
                    allowed="PrivateDnsEnabled true",
                    fix="set it, and enable DNS support and DNS hostnames on the VPC",
                )
                return


@rule(
    "DT138",
    on=NodeGroup,
    severity=Severity.WARNING,
    title="An endpoint that does not admit the nodes",
    why="With private DNS the service's name leads to the endpoint, which refuses the nodes: the calls time out.",
    source=_TRAIN_VPC,
    bad=_network(
        S3=_GATEWAY,
        Endpoints=group(VpcId={"Ref": "Vpc"}),
        Logs=_interface(SecurityGroupIds=[{"Fn::GetAtt": ["Endpoints", "GroupId"]}], PrivateDnsEnabled=True),
    ),
    good=_network(
        S3=_GATEWAY,
        Endpoints=group(
            VpcId={"Ref": "Vpc"},
            SecurityGroupIngress=[{"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": "10.0.0.0/16"}],
        ),
        Logs=_interface(SecurityGroupIds=[{"Fn::GetAtt": ["Endpoints", "GroupId"]}], PrivateDnsEnabled=True),
    ),
)
def endpoint_admits(nodes: NodeGroup) -> Iterator[Finding]:
    """DT138: tcp 443 from the nodes' groups."""
    if not (nodes.is_training_job and nodes.in_vpc):
        return
    vpcs = [subnet.vpc for subnet in of_ids(nodes.graph, nodes.subnet_ids)]
    for endpoint in _endpoints(nodes.graph, vpcs[0] if vpcs else None):
        view = View(endpoint.properties.value)
        if view.text("VpcEndpointType") != "Interface" or not view.has("SecurityGroupIds"):
            continue
        groups = SecurityGroups(nodes.graph, values(view, "SecurityGroupIds"))
        peers = nodes.groups.attached
        if not groups.admits(INGRESS, peers, "tcp", (443, 443)) and not groups.admits_addresses(
            INGRESS, "tcp", (443, 443)
        ):
            yield problem(
                *nodes.groups_key,
                got=f"nodes that the endpoint {endpoint.logical_id} does not admit on tcp 443",
                allowed="ingress of tcp 443 from the nodes' group on the endpoint's group",
                fix="add that rule",
            )
            return


def _endpoints(graph: Graph, vpc: object) -> Iterator[Resource]:
    """The endpoints of a VPC, for all that is known."""
    for endpoint in graph.perhaps_of_type(_ENDPOINT):
        if not differ(endpoint.properties.raw("VpcId"), vpc):
            yield endpoint


def _service(endpoint: Resource) -> str | None:
    """The service's name, tokens in their places; None if it is not known."""
    name = endpoint.properties.raw("ServiceName")
    if isinstance(name, PartialText):
        return str(name)
    return None if isinstance(name, Token) or name is None else str(name)
