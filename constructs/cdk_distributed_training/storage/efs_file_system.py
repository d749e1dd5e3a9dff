"""An EFS file system for what many jobs and people share: code, small data, results."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_efs as efs
from aws_cdk import aws_kms as kms
from constructs import Construct

from cdk_distributed_training.checks.acknowledgements import acknowledge
from cdk_distributed_training.checks.findings import raise_errors
from cdk_distributed_training.checks.rules import efs as rules
from cdk_distributed_training.network.interfaces import ITrainingNetwork
from cdk_distributed_training.storage.efs_file_system_base import EfsFileSystemBase
from cdk_distributed_training.storage.efs_interfaces import IEfsFileSystem
from cdk_distributed_training.storage.imported_efs_file_system import ImportedEfsFileSystem


class EfsFileSystem(EfsFileSystemBase):
    """An Amazon EFS file system with a mount target in a training network's subnet.

    For data that many nodes read at full speed, `LustreFileSystem` is the faster one by far.

    Its security group lets NFS (tcp 2049) in from the nodes, and theirs lets it out; nothing else is open. Whoever the
    network lets in may mount it, because SageMaker mounts without IAM's signature.

    Construct ids, which are part of the interface: `FileSystem`, `SecurityGroup`.

    Example:
        >>> shared = EfsFileSystem(stack, "Shared", network=network)  # doctest: +SKIP
        >>> shared.channel("train", directory_path="/corpus")  # doctest: +SKIP

    Source: https://docs.aws.amazon.com/efs/latest/ug/whatisefs.html
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        network: ITrainingNetwork,
        encryption_key: kms.IKey | None = None,
        throughput_mode: efs.ThroughputMode = efs.ThroughputMode.ELASTIC,
        provisioned_throughput: cdk.Size | None = None,
        performance_mode: efs.PerformanceMode = efs.PerformanceMode.GENERAL_PURPOSE,
        lifecycle_policy: efs.LifecyclePolicy | None = None,
        automatic_backups: bool = True,
        security_group: ec2.ISecurityGroup | None = None,
        removal_policy: cdk.RemovalPolicy = cdk.RemovalPolicy.RETAIN,
    ) -> None:
        """Create the file system.

        Args:
            scope: The parent construct.
            id: The construct id.
            network: The network whose nodes reach it, and in whose subnet it has its mount target.
            encryption_key: Key for the data; by default EFS's own key of the account.
            throughput_mode: How throughput is settled and charged; by default by what is read and written.
            provisioned_throughput: Throughput for each second, only with `ThroughputMode.PROVISIONED`.
            performance_mode: `GENERAL_PURPOSE` by default.
            lifecycle_policy: After how long without being read files move to cheaper storage; by default never.
            automatic_backups: Whether AWS Backup makes daily backups; true by default.
            security_group: An existing group for the mount target, which gets the rule above unless it was imported
                with `mutable=False`; then a warning (DT109) says what it needs. By default a new group.
            removal_policy: What becomes of the data when the file system leaves the stack or must be replaced; by
                default it stays.

        Raises:
            ConfigurationError: The values contradict each other.
        """
        super().__init__(scope, id, network=network)
        raise_errors(
            rules.throughput(throughput_mode.name, given=provisioned_throughput is not None), where=self.node.path
        )
        group = security_group or self._create_group("EFS: NFS from training nodes")
        file_system = efs.FileSystem(
            self,
            "FileSystem",
            vpc=network.vpc,
            vpc_subnets=ec2.SubnetSelection(subnets=[network.subnet]),
            security_group=group,
            encrypted=True,
            kms_key=encryption_key,
            throughput_mode=throughput_mode,
            provisioned_throughput_per_second=provisioned_throughput,
            performance_mode=performance_mode,
            lifecycle_policy=lifecycle_policy,
            enable_automatic_backups=automatic_backups,
            removal_policy=removal_policy,
            # else CDK's flag for new projects adds a policy that refuses every mount without IAM's signature
            allow_anonymous_access=True,
        )
        if automatic_backups:
            for pack in ("NIST.800.53.R5", "HIPAA.Security"):
                acknowledge(
                    file_system, f"{pack}-EFSInBackupPlan", "EFS's own automatic backups are on, by AWS Backup."
                )
        self._settle(file_system.file_system_id, file_system.file_system_arn, group)
        self._open_port(group, brought=security_group is not None)

    @classmethod
    def from_file_system(
        cls,
        scope: Construct,
        id: str,
        *,
        network: ITrainingNetwork,
        file_system: efs.IFileSystem,
        create_mount_target: bool = False,
    ) -> IEfsFileSystem:
        """Refer to a file system that exists, made or imported with CDK's own construct.

        Args:
            scope: The parent construct.
            id: The construct id.
            network: The network whose nodes reach it.
            file_system: The file system, for example of `efs.FileSystem.from_file_system_attributes`. Its group and the
                nodes' get NFS for each other.
            create_mount_target: Whether it gets a mount target in the network's subnet. False by default, for a file
                system that has one in this zone; it can have one for each zone.
        """
        return ImportedEfsFileSystem(
            scope, id, network=network, file_system=file_system, create_mount_target=create_mount_target
        )
