"""What every EFS file system can do, whether it was made here or elsewhere."""

from __future__ import annotations

import aws_cdk as cdk
import jsii
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from cdk_distributed_training.checks.annotations import annotate_warnings
from cdk_distributed_training.checks.rules import network_groups
from cdk_distributed_training.network.interfaces import ITrainingNetwork
from cdk_distributed_training.network.made_once import MadeOnce
from cdk_distributed_training.network.mutability import may_change
from cdk_distributed_training.network.security_group_rules import NFS, Opening
from cdk_distributed_training.storage.efs_channel import EfsChannel
from cdk_distributed_training.storage.efs_grants import EfsFileSystemGrants
from cdk_distributed_training.storage.file_system_metrics import FileSystemMetrics


@jsii.implements(ec2.IConnectable)
class EfsFileSystemBase(FileSystemMetrics, Construct):
    """An EFS file system that training nodes can reach; see `EfsFileSystem`."""

    _metric_namespace = "AWS/EFS"

    def __init__(self, scope: Construct, id: str, *, network: ITrainingNetwork) -> None:
        """Make the construct; the subclass then settles its attributes."""
        super().__init__(scope, id)
        self._network = network

    def _settle(self, file_system_id: str, file_system_arn: str, group: ec2.ISecurityGroup) -> None:
        self._file_system_id = file_system_id
        self._file_system_arn = file_system_arn
        self._connections = ec2.Connections(security_groups=[group], default_port=ec2.Port.tcp(2049))
        self._grants = EfsFileSystemGrants(file_system_arn)

    def _open_port(self, group: ec2.ISecurityGroup, *, brought: bool) -> None:
        nodes = self.network.node_security_group
        opening = Opening(group, nodes, NFS, "NFS, training nodes", ("Ingress",))
        self.network.allow_nfs(self, group)
        if brought and not may_change(group):
            annotate_warnings(self, network_groups.unchangeable_group([str(opening)], prop="security_group"))
        else:
            MadeOnce.in_stage_of(self).open(self, "Clients", opening, brought=brought)

    @property
    def file_system_id(self) -> str:
        """Id, such as `fs-0123456789abcdef0`."""
        return self._file_system_id

    @property
    def file_system_arn(self) -> str:
        """ARN."""
        return self._file_system_arn

    @property
    def network(self) -> ITrainingNetwork:
        """The network whose nodes reach the file system."""
        return self._network

    @property
    def connections(self) -> ec2.Connections:
        """The connections of the mount target's security group."""
        return self._connections

    @property
    def grants(self) -> EfsFileSystemGrants:
        """What can be granted on the file system."""
        return self._grants

    def channel(self, name: str, *, directory_path: str = "/", access_mode: str = "ro") -> EfsChannel:
        """Make a job's input channel that mounts a directory of this file system.

        Args:
            name: Name of the channel; nodes see its files under `/opt/ml/input/data/<name>`.
            directory_path: The directory; by default everything.
            access_mode: `ro` to read, `rw` to write as well.

        Raises:
            ConfigurationError: The path or the mode cannot be mounted.
        """
        return EfsChannel(self, name, directory_path=directory_path, access_mode=access_mode)

    def metric_data_read_io_bytes(self, *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """Bytes that clients read, summed over the period."""
        return self.metric("DataReadIOBytes", statistic="Sum", period=period)

    def metric_data_write_io_bytes(self, *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """Bytes that clients wrote, summed over the period."""
        return self.metric("DataWriteIOBytes", statistic="Sum", period=period)

    def metric_percent_io_limit(self, *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """How near the file system is to its limit of operations, in percent."""
        return self.metric("PercentIOLimit", period=period)
