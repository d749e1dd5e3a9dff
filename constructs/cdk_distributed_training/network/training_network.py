"""The network of a training job: one subnet in one Availability Zone, and a security group that fits EFA."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from cdk_distributed_training.checks.annotations import annotate_warnings
from cdk_distributed_training.checks.findings import Finding, raise_errors
from cdk_distributed_training.checks.rules import network as rules
from cdk_distributed_training.checks.rules import network_ranges, network_zones
from cdk_distributed_training.checks.rules.keywords import unsettled_list
from cdk_distributed_training.network.addresses import prefix_for
from cdk_distributed_training.network.default_security_group import close_default_security_group as _close
from cdk_distributed_training.network.endpoint_policies import own_principals_only, read_objects
from cdk_distributed_training.network.existing_vpc import PENDING_ZONES, place_on, route_table_of
from cdk_distributed_training.network.flow_log import VpcFlowLog
from cdk_distributed_training.network.imported_training_network import ImportedTrainingNetwork, import_by_ids
from cdk_distributed_training.network.interfaces import ITrainingNetwork
from cdk_distributed_training.network.internet_access import InternetAccess
from cdk_distributed_training.network.network_findings import (
    Ranges,
    addresses_of,
    combination_findings,
    pointless_findings,
    zone_findings,
)
from cdk_distributed_training.network.node_security_group import create_node_security_group
from cdk_distributed_training.network.own_vpc import OwnVpc
from cdk_distributed_training.network.placement import Placement
from cdk_distributed_training.network.security_group_rules import ALL_TRAFFIC, Opening
from cdk_distributed_training.network.training_call import USUAL_CALLS
from cdk_distributed_training.network.training_network_base import TrainingNetworkBase, endpoint_id
from cdk_distributed_training.request.instances import Instances
from cdk_distributed_training.tokens import known

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
    `EndpointSecurityGroup`, `FlowLog`, `DefaultSecurityGroup`, one for each interface endpoint, such as
    `SagemakerApiEndpoint`; where they are asked for, `SecondaryCidr`, `InternetRoute`, and with a NAT gateway
    `PublicSubnet`, `PublicRouteTable`, `PublicRoute`, `InternetGateway`, `InternetGatewayAttachment`, `NatGateway` and
    `NatAddress`.

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
        availability_zone_index: int | None = None,
        cidr: str | None = None,
        secondary_cidr: str | None = None,
        subnet_mask: int | None = None,
        instances: Sequence[Instances] | None = None,
        address_overlap: int = 2,
        internet: InternetAccess | None = None,
        interface_endpoints: Sequence[ec2.InterfaceVpcEndpointAwsService] | None = None,
        restrict_endpoints: bool = True,
        trusted_accounts: Sequence[str] = (),
        flow_log: bool | None = None,
        flow_log_group: logs.ILogGroup | None = None,
        encryption_key: kms.IKey | None = None,
        close_default_security_group: bool | None = None,
        vpc: ec2.IVpc | None = None,
        subnet: ec2.ISubnet | None = None,
        vpc_subnets: ec2.SubnetSelection | None = None,
        s3_gateway_endpoint: bool | None = None,
        node_security_group: ec2.ISecurityGroup | None = None,
        additional_security_groups: Sequence[ec2.ISecurityGroup] = (),
        open_additional_security_groups: bool = False,
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
                reservations and training plans name. On an existing VPC it says the zone of its one `subnet`, because
                no imported subnet knows its zone's id.
            availability_zone_index: The zone by its place, 0 being the first: in the region's list for a new VPC, among
                the zones of the subnets to choose from on an existing one. A stack that may be deployed to any region
                can rely on 0 and 1 only.
            cidr: IPv4 range of the new VPC, from /16 to /28; `10.0.0.0/16` by default. An EFA-enabled file system must
                be in the same /16 as its clients.
            secondary_cidr: A second range for the new VPC, from which the subnet then comes: for many nodes beside a
                small range that other networks have a route to. By default none.
            subnet_mask: Prefix length of the new subnet, which starts at its range's first address. By default half of
                the range, or all of it where `instances` need it; what is left stays free for other subnets. A node
                takes 2 addresses, with EFA at least 5, up to 33.
            instances: The instances that run at the same time. A subnet that cannot hold them is refused, as far as its
                range is known before deployment. By default nothing is checked.
            address_overlap: How many times over they may hold addresses, 2 by default: a job that starts again, or the
                next one beside a warm pool, gets its interfaces while the former ones still exist.
            internet: The way to the internet from the new VPC; by default `InternetAccess.none()`. What `internet`
                opens, `s3_prefix_list` closes again in the node security group. An existing subnet's routes are its
                owner's.
            interface_endpoints: AWS services to reach privately. For a new VPC by default CloudWatch Logs, CloudWatch
                metrics, STS and SageMaker's own API; each costs by the hour. None on an existing VPC. SageMaker itself
                moves channels, images, logs and model artifacts without them; they serve calls of the training script.
                Add more with `add_calls` or `add_interface_endpoint`.
            restrict_endpoints: Whether endpoint policies admit only credentials of the stack's account, so that no
                others carry data out; S3 objects may be read with any. True by default.
            trusted_accounts: Further accounts whose credentials the endpoints admit, for roles of other accounts.
            flow_log: Whether all connections are recorded. True for a new VPC, False for an existing one.
            flow_log_group: Where they are recorded; by default a new group that keeps a year and outlives the stack.
            encryption_key: Key for the new log group; its policy then admits CloudWatch Logs. By default CloudWatch
                Logs' own key.
            close_default_security_group: Whether the new VPC's default security group loses its rules, which takes a
                small Lambda function at deployment. True by default.
            vpc: An existing VPC to use in place of a new one.
            subnet: The subnet of the existing VPC to use.
            vpc_subnets: Subnets of the existing VPC to choose from; the first one that is in `availability_zone` is
                used. By default private subnets, then isolated ones.
            s3_gateway_endpoint: Whether the subnet's route table gets an S3 gateway endpoint. True for a new VPC. False
                for an existing one, where there may be one already; an isolated or public subnet then gets a warning
                (DT112).
            node_security_group: An existing group to use for the nodes. It gets the rules to itself; its other egress
                is left as it is. If it was imported with `mutable=False` nothing is added, and a warning (DT109) says
                which rules it needs. By default a new group.
            additional_security_groups: Further groups that every node gets, at most 4. They are not changed by default:
                one group that all nodes share and that is open to itself is enough for EFA.
            open_additional_security_groups: Whether these get the rules to themselves too.
            s3_prefix_list: The region's prefix list for S3. With it the new node security group allows HTTPS to this
                list and to the VPC only.

        Raises:
            ConfigurationError: Arguments contradict each other or cannot work; all of them are listed.
        """
        super().__init__(scope, id)
        new = vpc is None
        if interface_endpoints is None:
            interface_endpoints = default_interface_endpoints() if new else ()
        ranges = Ranges(
            cidr=cidr or DEFAULT_CIDR,
            secondary_cidr=secondary_cidr,
            subnet_mask=subnet_mask,
            needed=addresses_of(instances, overlap=address_overlap, endpoints=len(interface_endpoints)),
            public_subnet=internet is not None and internet.needs_public_subnet,
        )
        stack = cdk.Stack.of(self)
        self._made_in_region = stack.region
        raise_errors(
            [
                *zone_findings(availability_zone, availability_zone_id, availability_zone_index, region=stack.region),
                *combination_findings(
                    existing=not new,
                    only_new={
                        "cidr": cidr,
                        "secondary_cidr": secondary_cidr,
                        "subnet_mask": subnet_mask,
                        "internet": internet,
                        "close_default_security_group": close_default_security_group,
                    },
                    only_existing={"subnet": subnet, "vpc_subnets": vpc_subnets},
                ),
                *pointless_findings(
                    prefix_list_with_group=s3_prefix_list is not None and node_security_group is not None,
                    log_group_without_log=flow_log_group is not None and flow_log is False,
                ),
                *network_ranges.positive([("address_overlap", address_overlap)]),
                *unsettled_list("trusted_accounts", trusted_accounts),
                *ranges.findings(),
            ],
            where=self.node.path,
        )
        if vpc is None:
            placement, own = OwnVpc(
                availability_zone=self._zone_at(availability_zone_index) or availability_zone,
                availability_zone_id=availability_zone_id,
                cidr=ranges.cidr,
                secondary_cidr=secondary_cidr,
                subnet_mask=ranges.settle(),
                internet=internet or InternetAccess.none(),
            ).create(self)
            if close_default_security_group is not False:
                _close(self, "DefaultSecurityGroup", vpc=own)
        else:
            placement = place_on(
                vpc,
                subnet=subnet,
                vpc_subnets=vpc_subnets,
                availability_zone=availability_zone,
                availability_zone_id=availability_zone_id,
                availability_zone_index=availability_zone_index,
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
        if not new:
            self._check_size(ranges.needed)
        if node_security_group is not None:
            self._open(self, "Nodes", [Opening(nodes, nodes, ALL_TRAFFIC, "All traffic among training nodes")])
        for place, group in enumerate(additional_security_groups if open_additional_security_groups else ()):
            self._open_to_itself(group, f"Additional{place}")

        if restrict_endpoints:
            self._endpoint_policy = own_principals_only([stack.account, *trusted_accounts])
        if s3_gateway_endpoint if s3_gateway_endpoint is not None else new:
            self._add_s3_endpoint()
        elif s3_gateway_endpoint is None and not new:
            annotate_warnings(self, _way_to_s3(placement))
        for service in interface_endpoints:
            self.add_interface_endpoint(f"{endpoint_id(service)}Endpoint", service)
        if flow_log if flow_log is not None else new or flow_log_group is not None:
            VpcFlowLog(
                self, "FlowLog", vpc_id=placement.vpc.vpc_id, log_group=flow_log_group, encryption_key=encryption_key
            )

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
        availability_zone_id: str | None = None,
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
            availability_zone_id: Id of the subnet's zone, if it is known.

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
            availability_zone_id=availability_zone_id,
        )

    @classmethod
    def from_ids(
        cls,
        scope: Construct,
        id: str,
        *,
        vpc_id: str,
        subnet_id: str,
        security_group_ids: Sequence[str],
        availability_zone: str | None = None,
        availability_zone_id: str | None = None,
        mutable: bool = True,
    ) -> ITrainingNetwork:
        """Refer to a training network that exists by its ids, which may be tokens, and add nothing to it.

        Args:
            scope: The parent construct.
            id: The construct id.
            vpc_id: Id of the VPC.
            subnet_id: Id of the one subnet for training.
            security_group_ids: Ids of the nodes' groups, at most 5; the first must be open to itself.
            availability_zone: Name of the subnet's zone, if it is known.
            availability_zone_id: Id of the subnet's zone, if it is known.
            mutable: Whether file systems add their ports to the first group; otherwise a warning (DT109) says them.

        Raises:
            ConfigurationError: There are no groups, or too many.
        """
        return import_by_ids(
            scope,
            id,
            vpc_id=vpc_id,
            subnet_id=subnet_id,
            security_group_ids=security_group_ids,
            availability_zone=availability_zone,
            availability_zone_id=availability_zone_id,
            mutable=mutable,
        )

    def _zone_at(self, index: int | None) -> str | None:
        if index is None:
            return None
        if known(index):
            region = cdk.Stack.of(self).region
            found = list(network_zones.zone_index(index, region=region if known(region) else None))
            raise_errors(found, where=self.node.path)
            annotate_warnings(self, found)
        return cdk.Fn.select(index, cdk.Fn.get_azs())

    def _check_size(self, needed: int) -> None:
        usable = self.usable_addresses
        if usable is not None:
            raise_errors(
                network_ranges.enough_addresses(needed=needed, usable=usable, prefix=prefix_for(needed), prop="subnet"),
                where=self.node.path,
            )

    def _add_s3_endpoint(self) -> None:
        route_table = route_table_of(self.subnet)
        if route_table is None:
            raise_errors(rules.endpoint_route_table(self.subnet.subnet_id), where=self.node.path)
            return
        self._ask_once("a route to S3", "s3_gateway_endpoint", "s3", route_table)
        endpoint = ec2.GatewayVpcEndpoint(
            self,
            "S3Endpoint",
            vpc=self.vpc,
            service=ec2.GatewayVpcEndpointAwsService.S3,
            subnets=[ec2.SubnetSelection(subnets=[self.subnet])],
        )
        if self._endpoint_policy is not None:
            endpoint.add_to_policy(self._endpoint_policy)
            endpoint.add_to_policy(read_objects())


def default_interface_endpoints() -> Sequence[ec2.InterfaceVpcEndpointAwsService]:
    """The services that a training script in a closed subnet usually calls."""
    return [service for call in USUAL_CALLS for service in call.services]


def _way_to_s3(placement: Placement) -> Iterator[Finding]:
    """What is missing on an existing VPC, by the kinds of its subnets; nothing is said of a lookup that has not run."""
    if placement.availability_zone not in PENDING_ZONES:
        vpc, chosen = placement.vpc, placement.subnet.subnet_id
        for kind, subnets in (("isolated", vpc.isolated_subnets), ("public", vpc.public_subnets)):
            if chosen in {subnet.subnet_id for subnet in subnets}:
                yield from rules.gateway_endpoint(vpc_subnet=chosen, kind=kind)
