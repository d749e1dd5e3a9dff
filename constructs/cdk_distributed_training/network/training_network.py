"""The network of a training job: one subnet in one Availability Zone, and a security group that fits EFA."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_logs as logs
from constructs import Construct

from cdk_distributed_training.checks.annotations import annotate_warnings
from cdk_distributed_training.checks.findings import Finding, raise_errors
from cdk_distributed_training.checks.rules import network as rules
from cdk_distributed_training.network.default_security_group import close_default_security_group
from cdk_distributed_training.network.existing_vpc import PENDING_ZONES, place_on
from cdk_distributed_training.network.flow_log import VpcFlowLog
from cdk_distributed_training.network.imported_training_network import ImportedTrainingNetwork
from cdk_distributed_training.network.interfaces import ITrainingNetwork
from cdk_distributed_training.network.node_security_group import create_node_security_group
from cdk_distributed_training.network.own_vpc import create_vpc
from cdk_distributed_training.network.placement import Placement
from cdk_distributed_training.network.security_group_rules import ALL_TRAFFIC, Opening
from cdk_distributed_training.network.training_network_base import TrainingNetworkBase

DEFAULT_CIDR = "10.0.0.0/16"


class TrainingNetwork(TrainingNetworkBase):
    """One subnet in one Availability Zone, and the security group that training nodes share.

    EFA never crosses a zone, and a file system in another zone costs time and money, so training has exactly one
    subnet. By default the network is a new VPC with no way to the internet: an isolated subnet, an S3 gateway endpoint
    for channels and model artifacts, interface endpoints for the services that a training script usually calls, a flow
    log, and a default security group without rules.

    The node security group lets all traffic through among its members, in both directions and by group id, as EFA
    requires, and HTTPS out. "Out" is any address by default because a gateway endpoint's prefix list is not known
    before deployment; what bounds it is the route table, which in an isolated subnet leads to the VPC and to S3 only.
    Pass `s3_prefix_list` to bound it in the group as well. Anything else is closed; open it through `connections`.

    Construct ids, which are part of the interface: `Vpc`, `Subnet`, `RouteTable`, `S3Endpoint`, `NodeSecurityGroup`,
    `EndpointSecurityGroup`, `FlowLog`, `DefaultSecurityGroup`, and one for each interface endpoint.

    Example:
        >>> network = TrainingNetwork(stack, "Network", availability_zone="us-east-1d")  # doctest: +SKIP
        >>> TrainingNetwork(stack, "Shared", vpc=vpc, availability_zone="us-east-1d")  # doctest: +SKIP

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/train-vpc.html
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        availability_zone: str | None = None,
        availability_zone_id: str | None = None,
        cidr: str | None = None,
        subnet_mask: int | None = None,
        interface_endpoints: Sequence[ec2.InterfaceVpcEndpointAwsService] | None = None,
        flow_log: bool | None = None,
        flow_log_group: logs.ILogGroup | None = None,
        close_default_security_group: bool | None = None,
        vpc: ec2.IVpc | None = None,
        subnet: ec2.ISubnet | None = None,
        vpc_subnets: ec2.SubnetSelection | None = None,
        s3_gateway_endpoint: bool | None = None,
        node_security_group: ec2.ISecurityGroup | None = None,
        additional_security_groups: Sequence[ec2.ISecurityGroup] = (),
        s3_prefix_list: ec2.IPrefixList | None = None,
    ) -> None:
        """Create the network.

        Args:
            scope: The parent construct.
            id: The construct id.
            availability_zone: Name of the zone, such as `us-east-1d`; zone names differ between accounts. On an
                existing VPC it chooses among the subnets, and says the zone of a `subnet` imported by its id alone. By
                default a new VPC uses the first zone of the region.
            availability_zone_id: Id of the zone, such as `use1-az4`, the same in every account: what capacity
                reservations and training plans name. Only for a new VPC.
            cidr: IPv4 range of the new VPC, from /16 to /28; `10.0.0.0/16` by default. An EFA-enabled file system must
                be in the same /16 as its clients.
            subnet_mask: Prefix length of the new subnet, which starts at the range's first address. By default half of
                the VPC's range; the other half stays free for other subnets. A node takes 2 addresses, with EFA at
                least 5, up to 32.
            interface_endpoints: AWS services to reach privately. For a new VPC by default CloudWatch Logs, CloudWatch
                metrics, STS and SageMaker's own API; each costs by the hour. None on an existing VPC. SageMaker itself
                moves channels, images, logs and model artifacts without them; they serve calls of the training script.
                Add more with `add_interface_endpoint`.
            flow_log: Whether all connections are recorded. True for a new VPC, False for an existing one.
            flow_log_group: Where they are recorded; by default a new group that keeps a year and outlives the stack.
            close_default_security_group: Whether the new VPC's default security group loses its rules, which takes a
                small Lambda function at deployment. True by default.
            vpc: An existing VPC to use in place of a new one.
            subnet: The subnet of the existing VPC to use.
            vpc_subnets: Subnets of the existing VPC to choose from; the first one that is in `availability_zone` is
                used. By default private subnets, then isolated ones.
            s3_gateway_endpoint: Whether the subnet's route table gets an S3 gateway endpoint. True for a new VPC. False
                for an existing one, where there may be one already; an isolated subnet then gets a warning (DT112).
            node_security_group: An existing group to use for the nodes. It gets the rules to itself; its other egress
                is left as it is. If it was imported with `mutable=False` nothing is added, and a warning (DT109) says
                which rules it needs. By default a new group.
            additional_security_groups: Further groups that every node gets, at most 4. They are not changed.
            s3_prefix_list: The region's prefix list for S3. With it the new node security group allows HTTPS to this
                list and to the VPC only.

        Raises:
            ConfigurationError: Arguments contradict each other or cannot work; all of them are listed.
        """
        super().__init__(scope, id)
        raise_errors(
            [
                *_zone_findings(availability_zone, availability_zone_id, cdk.Stack.of(self).region),
                *_combination_findings(
                    vpc,
                    only_new={
                        "availability_zone_id": availability_zone_id,
                        "cidr": cidr,
                        "subnet_mask": subnet_mask,
                        "close_default_security_group": close_default_security_group,
                    },
                    only_existing={"subnet": subnet, "vpc_subnets": vpc_subnets},
                ),
                *_range_findings(cidr, subnet_mask),
            ],
            where=self.node.path,
        )
        if vpc is None:
            placement = self._new_vpc(
                availability_zone, availability_zone_id, cidr, subnet_mask, close_default_security_group is not False
            )
        else:
            placement = place_on(
                vpc,
                subnet=subnet,
                vpc_subnets=vpc_subnets,
                availability_zone=availability_zone,
                where=self.node.path,
            )
        nodes = node_security_group or create_node_security_group(
            self, "NodeSecurityGroup", placement=placement, s3_prefix_list=s3_prefix_list
        )
        self._settle(
            placement,
            [nodes, *additional_security_groups],
            nodes_may_change=True if node_security_group is None else None,
        )
        if node_security_group is not None:
            self._open(self, "Nodes", [Opening(nodes, nodes, ALL_TRAFFIC, "All traffic among training nodes")])

        new = vpc is None
        if s3_gateway_endpoint if s3_gateway_endpoint is not None else new:
            ec2.GatewayVpcEndpoint(
                self,
                "S3Endpoint",
                vpc=placement.vpc,
                service=ec2.GatewayVpcEndpointAwsService.S3,
                subnets=[ec2.SubnetSelection(subnets=[placement.subnet])],
            )
        elif s3_gateway_endpoint is None and not new and _is_isolated(placement):
            annotate_warnings(self, rules.gateway_endpoint(vpc_subnet=placement.subnet.subnet_id))
        if interface_endpoints is None:
            interface_endpoints = default_interface_endpoints() if new else ()
        for service in interface_endpoints:
            self.add_interface_endpoint(f"{_endpoint_id(service)}Endpoint", service)
        if flow_log if flow_log is not None else new or flow_log_group is not None:
            VpcFlowLog(self, "FlowLog", vpc_id=placement.vpc.vpc_id, log_group=flow_log_group)

    @classmethod
    def from_attributes(
        cls,
        scope: Construct,
        id: str,
        *,
        vpc: ec2.IVpc,
        subnet: ec2.ISubnet,
        node_security_group: ec2.ISecurityGroup,
        additional_security_groups: Sequence[ec2.ISecurityGroup] = (),
        availability_zone: str | None = None,
    ) -> ITrainingNetwork:
        """Refer to a training network that exists, and add nothing to it.

        Args:
            scope: The parent construct.
            id: The construct id.
            vpc: The VPC.
            subnet: The one subnet for training.
            node_security_group: The nodes' group, which must already be open to itself in both directions. File systems
                still add their Lustre ports to it, unless it is imported with `mutable=False`.
            additional_security_groups: Further groups that every node gets, at most 4.
            availability_zone: The subnet's zone, if the subnet was imported by its id alone.

        Raises:
            ConfigurationError: The subnet lies in another zone, or there are too many groups.
        """
        return ImportedTrainingNetwork(
            scope,
            id,
            vpc=vpc,
            subnet=subnet,
            node_security_group=node_security_group,
            additional_security_groups=additional_security_groups,
            availability_zone=availability_zone,
        )

    def _new_vpc(
        self, zone: str | None, zone_id: str | None, cidr: str | None, subnet_mask: int | None, close_default: bool
    ) -> Placement:
        cidr = cidr or DEFAULT_CIDR
        if subnet_mask is None:
            prefix = 16 if cdk.Token.is_unresolved(cidr) else ipaddress.IPv4Network(cidr).prefixlen
            subnet_mask = min(prefix + 1, 28)
        placement, vpc = create_vpc(
            self, availability_zone=zone, availability_zone_id=zone_id, cidr=cidr, subnet_mask=subnet_mask
        )
        if close_default:
            close_default_security_group(self, "DefaultSecurityGroup", vpc=vpc)
        return placement


def default_interface_endpoints() -> Sequence[ec2.InterfaceVpcEndpointAwsService]:
    """The services that a training script in a closed subnet usually calls."""
    services = ec2.InterfaceVpcEndpointAwsService
    return (services.CLOUDWATCH_LOGS, services.CLOUDWATCH_MONITORING, services.SAGEMAKER_API, services.STS)


def _endpoint_id(service: ec2.InterfaceVpcEndpointAwsService) -> str:
    return "".join(part.capitalize() for part in service.short_name.replace("-", ".").split("."))


def _is_isolated(placement: Placement) -> bool:
    if placement.availability_zone in PENDING_ZONES:
        return False
    return placement.subnet.subnet_id in {subnet.subnet_id for subnet in placement.vpc.isolated_subnets}


def _zone_findings(name: str | None, identifier: str | None, region: str) -> Iterator[Finding]:
    given = [
        prop for prop, value in (("availability_zone", name), ("availability_zone_id", identifier)) if value is not None
    ]
    yield from rules.exclusive(given, why="both place the subnet", fix="leave one out")
    if name is not None and not cdk.Token.is_unresolved(name):
        yield from rules.zone_name(name, region=None if cdk.Token.is_unresolved(region) else region)
    if identifier is not None and not cdk.Token.is_unresolved(identifier):
        yield from rules.zone_id(identifier)


def _combination_findings(
    vpc: ec2.IVpc | None, *, only_new: dict[str, object], only_existing: dict[str, object]
) -> Iterator[Finding]:
    if vpc is not None:
        yield from rules.needs_own_vpc([prop for prop, value in only_new.items() if value is not None])
        both = [prop for prop, value in only_existing.items() if value is not None]
        yield from rules.exclusive(both, why="both choose the subnet", fix="leave one out")
    else:
        yield from rules.needs_existing_vpc([prop for prop, value in only_existing.items() if value is not None])


def _range_findings(cidr: str | None, subnet_mask: int | None) -> Iterator[Finding]:
    prefix: int | None = None
    if not cdk.Token.is_unresolved(cidr):
        wrong = list(rules.vpc_cidr(cidr or DEFAULT_CIDR))
        yield from wrong
        prefix = None if wrong else ipaddress.IPv4Network(cidr or DEFAULT_CIDR).prefixlen
    if subnet_mask is not None and not cdk.Token.is_unresolved(subnet_mask):
        yield from rules.subnet_mask(subnet_mask, vpc_prefix=prefix)
