"""What every file system can do, of whatever kind, whether it was made here or elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Generic, TypeVar

import aws_cdk as cdk
import jsii
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from cdk_distributed_training.checks.annotations import annotate_warnings
from cdk_distributed_training.checks.findings import raise_errors
from cdk_distributed_training.checks.rules import network_groups
from cdk_distributed_training.enclosing_stack import enclosing_stack
from cdk_distributed_training.network.interfaces import ITrainingNetwork
from cdk_distributed_training.network.made_once import MadeOnce
from cdk_distributed_training.network.mutability import may_change
from cdk_distributed_training.network.region_findings import region_findings
from cdk_distributed_training.network.security_group_rules import Opening

Grants = TypeVar("Grants")


@jsii.implements(ec2.IConnectable)
class FileSystemBase(Construct, Generic[Grants]):
    """A file system that training nodes can reach; each kind has grants of its own."""

    _metric_namespace: ClassVar[str]

    def __init__(self, scope: Construct, id: str, *, network: ITrainingNetwork) -> None:
        """Make the construct; the subclass then settles its attributes."""
        super().__init__(scope, id)
        here = enclosing_stack(self).region
        raise_errors(region_findings(network, region=here), where=lambda: self.node.path)
        self._network = network

    def _set_attributes(self, file_system_id: str, connections: ec2.Connections, grants: Grants) -> None:
        self._file_system_id = file_system_id
        self._connections = connections
        self._grants = grants

    def _create_group(self, description: str) -> ec2.SecurityGroup:
        return ec2.SecurityGroup(
            self,
            "SecurityGroup",
            vpc=self._network.vpc,
            description=description,
            allow_all_outbound=False,
            disable_inline_rules=False,
        )

    def _open(
        self, group: ec2.ISecurityGroup, openings: Sequence[tuple[str, Opening]], *, brought: bool
    ) -> list[Construct]:
        """Open the file system's own group, or say what its owner must open.

        Args:
            group: The file system's group.
            openings: What to open, each with how the ids of its rules begin.
            brought: Whether others made the group.

        Returns:
            The rules.
        """
        if brought and not may_change(group):
            said = [str(opening) for _, opening in openings]
            annotate_warnings(self, network_groups.unchangeable_group(said, prop="security_group"))
            return []
        made = MadeOnce.in_stage_of(self)
        return [rule for id, opening in openings for rule in made.open(self, id, opening, brought=brought)]

    @property
    def file_system_id(self) -> str:
        """Id, such as `fs-0123456789abcdef0`."""
        return self._file_system_id

    @property
    def network(self) -> ITrainingNetwork:
        """The network whose nodes reach the file system."""
        return self._network

    @property
    def connections(self) -> ec2.Connections:
        """The connections of the file system's security group."""
        return self._connections

    @property
    def grants(self) -> Grants:
        """What can be granted on the file system."""
        return self._grants

    def metric(
        self, metric_name: str, *, statistic: str | None = None, period: cdk.Duration | None = None
    ) -> cloudwatch.Metric:
        """A CloudWatch metric of the file system.

        Args:
            metric_name: Name as CloudWatch has it.
            statistic: Such as `Sum`; the average by default.
            period: Over which it is taken; 5 minutes by default.
        """
        return cloudwatch.Metric(
            namespace=self._metric_namespace,
            metric_name=metric_name,
            dimensions_map={"FileSystemId": self._file_system_id},
            statistic=statistic,
            period=period,
        )
