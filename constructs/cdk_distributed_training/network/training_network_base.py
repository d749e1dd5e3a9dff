"""What every training network can do, whether it was made here or elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import jsii
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk_distributed_training.checks.annotations import annotate_warnings
from cdk_distributed_training.checks.findings import raise_errors
from cdk_distributed_training.checks.rules import network as rules
from cdk_distributed_training.checks.rules import network_groups
from cdk_distributed_training.network.addresses import usable_addresses
from cdk_distributed_training.network.endpoint_policies import takes_policy
from cdk_distributed_training.network.made_once import MadeOnce
from cdk_distributed_training.network.mutability import may_change
from cdk_distributed_training.network.placement import Placement
from cdk_distributed_training.network.security_group_rules import ALL_TRAFFIC, LUSTRE, NFS, Opening, name_of
from cdk_distributed_training.network.training_call import TrainingCall


@jsii.implements(ec2.IConnectable)
class TrainingNetworkBase(Construct):
    """One subnet for training and the security groups of its nodes; see `TrainingNetwork`."""

    def __init__(self, scope: Construct, id: str) -> None:
        """Make the construct; the subclass then settles its placement and its groups."""
        super().__init__(scope, id)
        self._endpoint_security_group: ec2.SecurityGroup | None = None
        self._endpoint_policy: iam.PolicyStatement | None = None
        self._made_in_region: str | None = None

    def _settle(
        self, placement: Placement, groups: Sequence[ec2.ISecurityGroup], *, nodes_may_change: bool | None = None
    ) -> None:
        raise_errors(network_groups.security_group_count(len(groups)), where=self.node.path)
        self._placement = placement
        self._vpc_id = placement.vpc.vpc_id
        self._made = MadeOnce.in_stage_of(self)
        self._security_groups = tuple(groups)
        self._connections = ec2.Connections(security_groups=[groups[0]])
        self._nodes_may_change = nodes_may_change  # None: not known before it is asked for
        self._nodes_are_brought = nodes_may_change is None

    @property
    def vpc(self) -> ec2.IVpc:
        """The VPC of the subnet."""
        return self._placement.vpc

    @property
    def subnet(self) -> ec2.ISubnet:
        """The one subnet in which nodes and file systems live."""
        return self._placement.subnet

    @property
    def availability_zone(self) -> str | None:
        """Name of the subnet's zone, often a token; None if the subnet was imported by its id alone."""
        return self._placement.availability_zone

    @property
    def availability_zone_id(self) -> str | None:
        """Id of the subnet's zone, often a token; None if nothing says it.

        Capacity reservations and training plans name their zone by this id, which is the same in every account.
        """
        return self._placement.availability_zone_id

    @property
    def made_in_region(self) -> str | None:
        """The region in which this app makes the network, often a token; None if it was made elsewhere."""
        return self._made_in_region

    @property
    def usable_addresses(self) -> int | None:
        """Addresses that the subnet has for network interfaces; None if its range is not known before deployment."""
        block = self._placement.subnet_cidr
        return None if block is None else usable_addresses(int(block.rpartition("/")[2]))

    @property
    def node_security_group(self) -> ec2.ISecurityGroup:
        """The security group that is open to itself in both directions."""
        return self._security_groups[0]

    @property
    def security_groups(self) -> Sequence[ec2.ISecurityGroup]:
        """Every group that a node gets: the node security group, then any further ones."""
        return self._security_groups

    @property
    def connections(self) -> ec2.Connections:
        """The node security group's connections, for example to let nodes reach a database."""
        return self._connections

    def allow_lustre(
        self, scope: Construct, file_system_security_group: ec2.ISecurityGroup, *, efa: bool = False
    ) -> None:
        """Open the Lustre ports (tcp 988 and 1018-1023) between the nodes and a file system.

        Only the nodes' side: the file system opens its own. The rules are made in `scope`, so that a file system in
        another stack depends on the network's stack and not the other way round. On a node security group imported with
        `mutable=False` nothing is added, and a warning (DT109) says what its owner has to add.

        Args:
            scope: Scope of the rules, usually the file system.
            file_system_security_group: The file system's group.
            efa: Whether all traffic is opened, as an EFA-enabled file system needs it.
        """
        nodes = self.node_security_group
        self._open(
            scope,
            "Nodes",
            [
                Opening(nodes, file_system_security_group, traffic, "Lustre client, training nodes")
                for traffic in ([ALL_TRAFFIC] if efa else LUSTRE)
            ],
        )

    def allow_nfs(self, scope: Construct, file_system_security_group: ec2.ISecurityGroup) -> None:
        """Open NFS (tcp 2049) between the nodes and an EFS file system; like `allow_lustre`, the nodes' side only.

        Args:
            scope: Scope of the rules, usually the file system.
            file_system_security_group: The group of its mount targets.
        """
        nodes = self.node_security_group
        opening = Opening(nodes, file_system_security_group, NFS, "NFS client, training nodes", ("Egress",))
        self._open(scope, "Nodes", [opening])

    def add_calls(self, *calls: TrainingCall) -> None:
        """Give the nodes a private way to everything that these calls take; what is there already is left.

        Args:
            calls: What training scripts call, such as `TrainingCall.REMOTE_DEBUG`.
        """
        for call in calls:
            for service in call.services:
                id = f"{endpoint_id(service)}Endpoint"
                if self.node.try_find_child(id) is None:
                    self.add_interface_endpoint(id, service)

    def add_interface_endpoint(
        self,
        id: str,
        service: ec2.IInterfaceVpcEndpointService,
        *,
        private_dns_enabled: bool = True,
    ) -> ec2.InterfaceVpcEndpoint:
        """Give the nodes a private way to an AWS service, in the training subnet.

        All endpoints of the network share one security group, which lets in HTTPS from the nodes and nothing else.
        Where the service is known to take an endpoint policy, it is bounded as `restrict_endpoints` says.

        Args:
            id: Construct id of the endpoint.
            service: The service, such as `ec2.InterfaceVpcEndpointAwsService.KMS`.
            private_dns_enabled: Whether the service's public name leads to the endpoint. A VPC can have one such
                endpoint for each service; on an existing VPC that already has it, do not add another.

        Raises:
            ConfigurationError: Another network of this app gives the VPC an endpoint for the service's public name.
        """
        # every AWS service object has tokens of its own in its full name
        short_name = service.short_name if isinstance(service, ec2.InterfaceVpcEndpointAwsService) else None
        if private_dns_enabled:
            name = short_name or service.name
            self._ask_once(f"a private name for {name}", "interface_endpoints", self._vpc_id, name)
        endpoint = ec2.InterfaceVpcEndpoint(
            self,
            id,
            vpc=self.vpc,
            service=service,
            subnets=ec2.SubnetSelection(subnets=[self.subnet]),
            security_groups=[self._endpoints()],
            private_dns_enabled=private_dns_enabled,
            open=False,  # CDK would let in the whole VPC
        )
        if self._endpoint_policy is not None and short_name is not None and takes_policy(short_name):
            endpoint.add_to_policy(self._endpoint_policy)
        return endpoint

    def _ask_once(self, what: str, prop: str, *key: str) -> None:
        first = self._made.find(*key)
        if first is not None:
            raise_errors(rules.made_twice(what, prop=prop, first=first.node.path), where=self.node.path)
        self._made.remember(self, *key)

    def _endpoints(self) -> ec2.SecurityGroup:
        if self._endpoint_security_group is None:
            self._endpoint_security_group = ec2.SecurityGroup(
                self,
                "EndpointSecurityGroup",
                vpc=self.vpc,
                description="Interface endpoints: HTTPS from training nodes",
                allow_all_outbound=False,
                disable_inline_rules=False,
            )
            self._endpoint_security_group.add_ingress_rule(
                self.node_security_group, ec2.Port.tcp(443), "HTTPS from training nodes"
            )
        return self._endpoint_security_group

    def _open(self, scope: Construct, id: str, openings: Iterable[Opening]) -> None:
        nodes = self.node_security_group
        if self._nodes_may_change is None:
            self._nodes_may_change = self._may_change(nodes, prop="node_security_group")
        if not self._nodes_may_change:
            said = [str(opening) for opening in openings]
            annotate_warnings(scope, network_groups.unchangeable_group(said, prop="node_security_group"))
            return
        for opening in openings:
            self._made.open(scope, id, opening, brought=self._nodes_are_brought)
        count = self._made.count_rules(nodes)
        if count > network_groups.RULES_PER_GROUP:
            annotate_warnings(self, network_groups.rules_per_group(count, group=name_of(nodes)))

    def _may_change(self, group: ec2.ISecurityGroup, *, prop: str) -> bool:
        changeable = may_change(group)
        if changeable and group.allow_all_outbound:
            annotate_warnings(self, network_groups.allow_all_may_go(name_of(group), prop=prop))
        return changeable

    def _open_to_itself(self, group: ec2.ISecurityGroup, id: str) -> None:
        """Give a further group the rules that EFA needs."""
        opening = Opening(group, group, ALL_TRAFFIC, "All traffic among training nodes")
        if self._may_change(group, prop="additional_security_groups"):
            self._made.open(self, id, opening, brought=True)
        else:
            annotate_warnings(
                self, network_groups.unchangeable_group([str(opening)], prop="additional_security_groups")
            )


def endpoint_id(service: ec2.InterfaceVpcEndpointAwsService) -> str:
    """How the construct id of a service's endpoint begins: `SagemakerApi` for `sagemaker.api`."""
    return "".join(part.capitalize() for part in service.short_name.replace("-", ".").split("."))
