"""What every file system of FSx for Lustre can do, whether it was made here or elsewhere."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from cdk_distributed_training.checks.findings import raise_errors
from cdk_distributed_training.checks.rules import file_system_channels
from cdk_distributed_training.network.security_group_rules import ALL_TRAFFIC, LUSTRE, Opening
from cdk_distributed_training.storage.file_system_base import FileSystemBase
from cdk_distributed_training.storage.lustre_channel import LustreChannel
from cdk_distributed_training.storage.lustre_grants import LustreFileSystemGrants


class LustreFileSystemBase(FileSystemBase[LustreFileSystemGrants]):
    """An FSx for Lustre file system that training nodes can reach; see `LustreFileSystem`."""

    _metric_namespace = "AWS/FSx"

    def _open_ports(self, group: ec2.ISecurityGroup, *, brought: bool, efa: bool) -> list[Construct]:
        """Open Lustre among file servers and to the nodes, on the file system's side and on the nodes'.

        Args:
            group: The file system's group.
            brought: Whether others made it.
            efa: Whether all traffic is opened in place of the ports.

        Returns:
            The rules of the file system's own group.
        """
        nodes = self.network.node_security_group
        openings = [
            (id, Opening(group, peer, traffic, f"Lustre, {words}"))
            for id, peer, words in (("Servers", group, "file servers"), ("Clients", nodes, "training nodes"))
            for traffic in ([ALL_TRAFFIC] if efa else LUSTRE)
        ]
        self.network.allow_lustre(self, group, efa=efa)
        return self._open(group, openings, brought=brought)

    def _settle(self, file_system_id: str, mount_name: str, dns_name: str, group: ec2.ISecurityGroup) -> None:
        self._mount_name = mount_name
        self._dns_name = dns_name
        grants = LustreFileSystemGrants(file_system_id, arn=self._arn)
        self._set_attributes(file_system_id, ec2.Connections(security_groups=[group]), grants)

    @property
    def file_system_arn(self) -> str:
        """ARN."""
        return self._arn("file-system", self._file_system_id)

    def _arn(self, resource: str, name: str) -> str:
        return cdk.Stack.of(self).format_arn(service="fsx", resource=resource, resource_name=name)

    @property
    def mount_name(self) -> str:
        """First part of every path that a client mounts; FSx makes it up, except `fsx` for `SCRATCH_1`."""
        return self._mount_name

    @property
    def dns_name(self) -> str:
        """Host name that a client mounts."""
        return self._dns_name

    def channel(self, name: str, *, directory_path: str = "/", access_mode: str = "ro") -> LustreChannel:
        """Make a job's input channel that mounts a directory of this file system.

        Args:
            name: Name of the channel; nodes see its files under `/opt/ml/input/data/<name>`.
            directory_path: The directory, seen from the file system's own root: `/corpus` for a data repository at
                `/corpus`. The mount name is put in front of it. By default everything.
            access_mode: `ro` to read, `rw` to write as well.

        Raises:
            ConfigurationError: The path or the mode cannot be mounted.
        """
        mount_name = None if cdk.Token.is_unresolved(self._mount_name) else self._mount_name
        if not cdk.Token.is_unresolved(directory_path):
            raise_errors(
                file_system_channels.mount_name_in_path(
                    directory_path, mount_name=mount_name, repositories=self._known_directories()
                ),
                where=self.node.path,
            )
        return LustreChannel(
            self, name, mount_name=self._mount_name, directory_path=directory_path, access_mode=access_mode
        )

    def _known_directories(self) -> list[str]:
        """Directories that are sure to exist."""
        return []

    def metric_data_read_bytes(self, *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """Bytes that clients read, summed over the period."""
        return self.metric("DataReadBytes", statistic="Sum", period=period)

    def metric_data_write_bytes(self, *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """Bytes that clients wrote, summed over the period."""
        return self.metric("DataWriteBytes", statistic="Sum", period=period)

    def metric_free_data_storage_capacity(self, *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """Free bytes, summed over the file system's disks.

        Args:
            period: Over which it is taken; 1 minute by default, in which every disk reports once.
        """
        return self.metric("FreeDataStorageCapacity", statistic="Sum", period=period or cdk.Duration.minutes(1))

    def metric_data_read_operations(self, *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """How often clients read, summed over the period."""
        return self.metric("DataReadOperations", statistic="Sum", period=period)

    def metric_data_write_operations(self, *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """How often clients wrote, summed over the period."""
        return self.metric("DataWriteOperations", statistic="Sum", period=period)

    def metric_metadata_operations(self, *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """How often clients looked up or changed names and attributes, summed over the period."""
        return self.metric("MetadataOperations", statistic="Sum", period=period)
