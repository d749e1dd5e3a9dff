"""A file system that somebody else made."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from cdk_distributed_training.checks.annotations import annotate_warnings
from cdk_distributed_training.checks.findings import raise_errors
from cdk_distributed_training.checks.rules import file_system_channels, lustre_options
from cdk_distributed_training.network.existing_vpc import PENDING_ZONES
from cdk_distributed_training.network.interfaces import ITrainingNetwork
from cdk_distributed_training.storage.lustre_file_system_base import LustreFileSystemBase


class ImportedLustreFileSystem(LustreFileSystemBase):
    """What `LustreFileSystem.from_attributes` returns."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        network: ITrainingNetwork,
        file_system_id: str,
        mount_name: str,
        security_group: ec2.ISecurityGroup,
        availability_zone: str | None = None,
        dns_name: str | None = None,
        efa: bool = False,
    ) -> None:
        """Refer to the file system; see `LustreFileSystem.from_attributes` for the arguments."""
        super().__init__(scope, id, network=network)
        if not cdk.Token.is_unresolved(file_system_id):
            raise_errors(file_system_channels.file_system_id(file_system_id), where=self.node.path)
        stack = cdk.Stack.of(self)
        host = dns_name or f"{file_system_id}.fsx.{stack.region}.{stack.url_suffix}"
        self._settle(file_system_id, mount_name, host, security_group)
        self._open_ports(security_group, brought=True, efa=efa)
        zones = (availability_zone, network.availability_zone)
        if not any(zone is None or cdk.Token.is_unresolved(zone) or zone in PENDING_ZONES for zone in zones):
            annotate_warnings(self, lustre_options.same_zone(file_system=str(zones[0]), nodes=str(zones[1])))
