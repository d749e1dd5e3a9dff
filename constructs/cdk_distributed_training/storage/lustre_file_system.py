"""An FSx for Lustre file system beside the nodes that train from it."""

from __future__ import annotations

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from constructs import Construct

from cdk_distributed_training.checks.annotations import annotate_warnings
from cdk_distributed_training.checks.findings import raise_errors
from cdk_distributed_training.checks.rules import lustre_options
from cdk_distributed_training.checks.rules import storage as rules
from cdk_distributed_training.network.interfaces import ITrainingNetwork
from cdk_distributed_training.storage.data_repositories import DataRepositories
from cdk_distributed_training.storage.data_repository import DataRepository, DataRepositoryEvent
from cdk_distributed_training.storage.free_space_alarm import create_free_space_alarm
from cdk_distributed_training.storage.imported_lustre_file_system import ImportedLustreFileSystem
from cdk_distributed_training.storage.interfaces import ILustreFileSystem
from cdk_distributed_training.storage.lustre_deployment_type import (
    LustreDeploymentType,
    LustreLogLevel,
    LustreStorageType,
)
from cdk_distributed_training.storage.lustre_file_system_base import LustreFileSystemBase
from cdk_distributed_training.storage.lustre_logs import log_findings, render_logs
from cdk_distributed_training.storage.lustre_metadata import LustreMetadata
from cdk_distributed_training.storage.lustre_read_cache import LustreReadCache
from cdk_distributed_training.storage.lustre_settings import LustreSettings

ALL_EVENTS = tuple(DataRepositoryEvent)


class LustreFileSystem(LustreFileSystemBase):
    """An FSx for Lustre file system in a training network's one subnet.

    Its security group and the nodes' get the Lustre ports (tcp 988 and 1018-1023) for each other, in both directions,
    and the file system's group for itself; nothing else is open. `channel` makes a job's input channel of a directory,
    `add_data_repository` fills a directory from S3.

    Some values cannot be changed on a file system that exists: CloudFormation then makes a new, empty one, and the
    removal policy decides over the old one. These are the network's subnet, `security_group`, `encryption_key`,
    `backup_id`, `deployment_type`, `storage_type`, `file_system_type_version`, `per_unit_storage_throughput`,
    `drive_cache`, `efa` and `copy_tags_to_backups`. CloudFormation has no root squash: set it with `aws fsx
    update-file-system` after deployment.

    Construct ids, which are part of the interface: `Resource`, `SecurityGroup`, `Log`, `FreeSpaceAlarm`, and
    `DataRepository<path>`.

    Example:
        >>> corpus = LustreFileSystem(  # doctest: +SKIP
        ...     stack, "Corpus", network=network, storage_capacity=cdk.Size.gibibytes(4800)
        ... )
        >>> corpus.add_data_repository(bucket, prefix="corpus/", file_system_path="/corpus")  # doctest: +SKIP

    Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        network: ITrainingNetwork,
        storage_capacity: cdk.Size | None = None,
        deployment_type: LustreDeploymentType = LustreDeploymentType.PERSISTENT_2,
        per_unit_storage_throughput: int | None = None,
        storage_type: LustreStorageType = LustreStorageType.SSD,
        throughput_capacity: int | None = None,
        read_cache: LustreReadCache | None = None,
        metadata: LustreMetadata | None = None,
        efa: bool = False,
        drive_cache: bool | None = None,
        file_system_type_version: str = "2.15",
        data_compression: bool = False,
        encryption_key: kms.IKey | None = None,
        backup_id: str | None = None,
        automatic_backup_retention: cdk.Duration | None = None,
        daily_automatic_backup_start_time: str | None = None,
        copy_tags_to_backups: bool = True,
        weekly_maintenance_start_time: str | None = None,
        log_level: LustreLogLevel | None = None,
        log_group: logs.ILogGroup | None = None,
        security_group: ec2.ISecurityGroup | None = None,
        removal_policy: cdk.RemovalPolicy | None = None,
    ) -> None:
        """Create the file system.

        Args:
            scope: The parent construct.
            id: The construct id.
            network: The network in whose subnet the file system lives and whose nodes reach it.
            storage_capacity: Its size: 1,200 GiB, 2,400 GiB or a multiple of 2,400 GiB; other steps for `SCRATCH_1` and
                for hard disks and with EFA. Not with Intelligent-Tiering; from a backup by default the backup's.
            deployment_type: How it keeps its data; persistent by default.
            per_unit_storage_throughput: MB/s for each TiB of capacity, for persistent types. By default the smallest:
                125 for `PERSISTENT_2`, 50 for `PERSISTENT_1`, 12 for its hard disks.
            storage_type: Its disks; solid state by default.
            throughput_capacity: MB/s of an Intelligent-Tiering file system: 1000, 2000 or a multiple of 4000; 1000 by
                default, with EFA 4000.
            read_cache: Cache of an Intelligent-Tiering file system; by default one in proportion to its throughput.
            metadata: Metadata operations of a `PERSISTENT_2` file system. By default FSx's own, with EFA
                `LustreMetadata.automatic()`, with Intelligent-Tiering 6000.
            efa: Whether clients may reach it by EFA, and GPUs read from it directly. Not by default: EC2 instances
                profit, while no public source says that SageMaker's training jobs mount this way. All traffic is then
                open between it and the nodes, in place of the Lustre ports.
            drive_cache: Whether hard disks get a cache of solid state disks, of a fifth of the capacity. By default
                they do not.
            file_system_type_version: Version of Lustre; 2.15 by default, the newest.
            data_compression: Whether files are compressed (LZ4) when they are written.
            encryption_key: Key for a persistent file system, and for a new log group. By default FSx's own key of the
                account.
            backup_id: Id of a backup to start from; state its `deployment_type`. By default it starts empty.
            automatic_backup_retention: How many days FSx keeps a daily backup; by default it makes none. Not together
                with data repositories.
            daily_automatic_backup_start_time: When it makes them, as `HH:MM` in UTC. By default FSx chooses.
            copy_tags_to_backups: Whether backups get the file system's tags.
            weekly_maintenance_start_time: When FSx may do maintenance, as `d:HH:MM` in UTC. By default FSx chooses.
            log_level: What it logs of its exchanges with S3; by default nothing.
            log_group: Where, a group whose name begins with `/aws/fsx/`. By default a new one that keeps a year.
            security_group: An existing group for the file system, which gets the rules above unless it was imported
                with `mutable=False`; then a warning (DT109) says which ones it needs. By default a new group.
            removal_policy: What becomes of the file system, and of its data, when it leaves the stack or must be
                replaced. By default a persistent one stays (and goes on costing), a scratch one is deleted.

        Raises:
            ConfigurationError: Arguments contradict each other or cannot work; all of them are listed.
        """
        super().__init__(scope, id, network=network)
        days = automatic_backup_retention
        given = LustreSettings(
            gibibytes=None
            if storage_capacity is None
            else storage_capacity.to_gibibytes(rounding=cdk.SizeRoundingBehavior.NONE),
            deployment_type=deployment_type,
            per_unit_storage_throughput=per_unit_storage_throughput,
            storage_type=storage_type,
            throughput_capacity=throughput_capacity,
            read_cache=read_cache,
            metadata=metadata,
            efa=efa,
            drive_cache=drive_cache,
            version=file_system_type_version,
            data_compression=data_compression,
            backup_id=backup_id,
            backup_days=None if days is None else days.to_days(integral=False),
            daily_automatic_backup_start_time=daily_automatic_backup_start_time,
            copy_tags_to_backups=copy_tags_to_backups,
            weekly_maintenance_start_time=weekly_maintenance_start_time,
        )
        kind = deployment_type.value
        raise_errors(
            [
                *given.findings(),
                *(rules.encryption_key(kind) if encryption_key is not None else ()),
                *(rules.removal_policy(removal_policy.name) if removal_policy is not None else ()),
                *log_findings(log_level, log_group),
            ],
            where=self.node.path,
        )
        self._settings = settings = given.complete()
        self._repositories = DataRepositories(self, settings)
        group = security_group or self._create_group(
            "FSx for Lustre: Lustre ports among file servers and training nodes"
        )
        opened = self._open_ports(group, brought=security_group is not None, efa=efa)
        self._resource = fsx.CfnFileSystem(
            self,
            "Resource",
            file_system_type="LUSTRE",
            file_system_type_version=file_system_type_version,
            storage_capacity=settings.gibibytes,
            storage_type=storage_type.value,
            subnet_ids=[network.subnet.subnet_id],
            security_group_ids=[group.security_group_id],
            kms_key_id=encryption_key.key_arn if encryption_key is not None else None,
            backup_id=backup_id,
            lustre_configuration=settings.render(
                render_logs(self, log_level, log_group, encryption_key=encryption_key)
            ),
            tags=[cdk.CfnTag(key="Name", value=self.node.path)],
        )
        for rule in opened:  # FSx tries the ports when it creates a file system, and gives up if they are closed
            self._resource.node.add_dependency(rule)
        persistent = deployment_type.facts.persistent
        if removal_policy is None:
            removal_policy = cdk.RemovalPolicy.RETAIN if persistent else cdk.RemovalPolicy.DESTROY
        elif persistent and removal_policy is cdk.RemovalPolicy.DESTROY:
            annotate_warnings(self, lustre_options.replaced_with_its_data(kind))
        self._resource.apply_removal_policy(removal_policy)
        if settings.gibibytes is not None and not cdk.Token.is_unresolved(settings.gibibytes):
            annotate_warnings(self, lustre_options.large(settings.gibibytes, storage=storage_type.value))
        self._settle(self._resource.ref, self._resource.attr_lustre_mount_name, self._resource.attr_dns_name, group)

    @classmethod
    def from_attributes(
        cls,
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
    ) -> ILustreFileSystem:
        """Refer to a file system that exists, and let the network's nodes reach it.

        Args:
            scope: The parent construct.
            id: The construct id.
            network: The network whose nodes reach it; it should lie in the file system's Availability Zone.
            file_system_id: Its id.
            mount_name: Its mount name, as `aws fsx describe-file-systems` shows it; `fsx` for `SCRATCH_1`.
            security_group: Its security group. It and the nodes' get the Lustre ports for each other; if it was
                imported with `mutable=False`, a warning (DT109) says which rules it needs.
            availability_zone: Its zone; nodes in another one get a warning (DT291). By default nothing is compared.
            dns_name: Its host name; by default as FSx names file systems of this region and partition.
            efa: Whether it is EFA-enabled, and takes all traffic in place of the Lustre ports.

        Raises:
            ConfigurationError: The id is no file system id.
        """
        return ImportedLustreFileSystem(
            scope,
            id,
            network=network,
            file_system_id=file_system_id,
            mount_name=mount_name,
            security_group=security_group,
            availability_zone=availability_zone,
            dns_name=dns_name,
            efa=efa,
        )

    @classmethod
    def from_file_system(
        cls, scope: Construct, id: str, *, network: ITrainingNetwork, file_system: fsx.LustreFileSystem
    ) -> ILustreFileSystem:
        """Refer to a file system made with CDK's own construct, and let the network's nodes reach it.

        Args:
            scope: The parent construct.
            id: The construct id.
            network: The network whose nodes reach it.
            file_system: The file system; its group and the nodes' get the Lustre ports for each other.
        """
        return ImportedLustreFileSystem(
            scope,
            id,
            network=network,
            file_system_id=file_system.file_system_id,
            mount_name=file_system.mount_name,
            security_group=file_system.connections.security_groups[0],
            dns_name=file_system.dns_name,
        )

    def add_data_repository(
        self,
        bucket: s3.IBucket,
        *,
        file_system_path: str,
        prefix: str = "",
        auto_import: Sequence[DataRepositoryEvent] = ALL_EVENTS,
        auto_export: Sequence[DataRepositoryEvent] = (),
        batch_import: bool = True,
        imported_file_chunk_size: cdk.Size | None = None,
    ) -> DataRepository:
        """Link a directory of the file system with a prefix of a bucket.

        FSx reaches the bucket with its service-linked role, so nothing is granted here; whoever deploys needs leave to
        read the bucket, and a key of the bucket must admit that role.

        Args:
            bucket: The bucket, in the file system's region where `auto_import` is used.
            file_system_path: The directory, such as `/corpus`; none may contain another.
            prefix: The prefix, such as `corpus/`; by default the whole bucket.
            auto_import: Events in the bucket that change the directory; all by default.
            auto_export: Events in the directory that change the bucket; by default none, so that training cannot.
            batch_import: Whether names and sizes of all objects are read when the link is made. Without it the
                directory looks empty until something is imported.
            imported_file_chunk_size: Most data of an imported file on one disk; 1,024 MiB by default.

        Returns:
            The link, by which `TrainingOnNewData` starts runs.

        Raises:
            ConfigurationError: The link cannot work with this file system or next to another link.
        """
        repository = DataRepository(
            bucket=bucket,
            prefix=prefix,
            file_system_path=file_system_path,
            auto_import=auto_import,
            auto_export=auto_export,
            batch_import=batch_import,
            imported_file_chunk_size=imported_file_chunk_size,
        )
        self._repositories.add(repository, file_system_id=self.file_system_id)
        return repository

    def _known_directories(self) -> list[str]:
        return self._repositories.directories

    def add_free_space_alarm(
        self,
        *,
        below: cdk.Size | None = None,
        actions: Sequence[cloudwatch.IAlarmAction] = (),
    ) -> cloudwatch.Alarm:
        """Raise an alarm when little space is left: a full file system stops a job that writes checkpoints to it.

        Args:
            below: Free space under which it is raised; a tenth of the capacity by default.
            actions: What happens then; by default the alarm only shows in CloudWatch.

        Raises:
            ConfigurationError: The storage is elastic, or the capacity is known only when deployed and no size given.
        """
        return create_free_space_alarm(self, self._settings, below=below, actions=actions)
