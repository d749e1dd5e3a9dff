"""An EFS file system that somebody else made."""

from __future__ import annotations

from aws_cdk import aws_efs as efs
from constructs import Construct

from cdk_distributed_training.network.interfaces import ITrainingNetwork
from cdk_distributed_training.storage.efs_file_system_base import EfsFileSystemBase


class ImportedEfsFileSystem(EfsFileSystemBase):
    """What `EfsFileSystem.from_file_system` returns."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        network: ITrainingNetwork,
        file_system: efs.IFileSystem,
        create_mount_target: bool,
    ) -> None:
        """Refer to the file system; see `EfsFileSystem.from_file_system` for the arguments."""
        super().__init__(scope, id, network=network)
        group = file_system.connections.security_groups[0]
        self._settle(file_system.file_system_id, file_system.file_system_arn, group)
        self._open_port(group, brought=True)
        if create_mount_target:
            efs.CfnMountTarget(
                self,
                "MountTarget",
                file_system_id=file_system.file_system_id,
                subnet_id=network.subnet.subnet_id,
                security_groups=[group.security_group_id],
            )
