"""What every EFS file system can do, whether it was made here or elsewhere."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2

from cdk_distributed_training.network.security_group_rules import NFS, Opening
from cdk_distributed_training.storage.efs_channel import EfsChannel
from cdk_distributed_training.storage.efs_grants import EfsFileSystemGrants
from cdk_distributed_training.storage.file_system_base import FileSystemBase


class EfsFileSystemBase(FileSystemBase[EfsFileSystemGrants]):
    """An EFS file system that training nodes can reach; see `EfsFileSystem`."""

    _metric_namespace = "AWS/EFS"

    def _settle(self, file_system_id: str, file_system_arn: str, group: ec2.ISecurityGroup) -> None:
        self._file_system_arn = file_system_arn
        connections = ec2.Connections(security_groups=[group], default_port=ec2.Port.tcp(2049))
        self._set_attributes(file_system_id, connections, EfsFileSystemGrants(file_system_arn))

    def _open_port(self, group: ec2.ISecurityGroup, *, brought: bool) -> None:
        nodes = self.network.node_security_group
        opening = Opening(group, nodes, NFS, "NFS, training nodes", ("Ingress",))
        self.network.allow_nfs(self, group)
        self._open(group, [("Clients", opening)], brought=brought)

    @property
    def file_system_arn(self) -> str:
        """ARN."""
        return self._file_system_arn

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
