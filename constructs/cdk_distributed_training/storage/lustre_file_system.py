"""An FSx for Lustre file system beside the nodes that train from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from cdk_distributed_training.checks.findings import Finding, raise_errors
from cdk_distributed_training.checks.rules import storage as rules
from cdk_distributed_training.network.interfaces import ITrainingNetwork
from cdk_distributed_training.network.mutability import may_change
from cdk_distributed_training.storage.data_repository import DataRepository, DataRepositoryEvent
from cdk_distributed_training.storage.imported_lustre_file_system import ImportedLustreFileSystem
from cdk_distributed_training.storage.interfaces import ILustreFileSystem
from cdk_distributed_training.storage.lustre_deployment_type import LustreDeploymentType, LustreStorageType
from cdk_distributed_training.storage.lustre_file_system_base import LustreFileSystemBase

ALL_EVENTS = tuple(DataRepositoryEvent)


class LustreFileSystem(LustreFileSystemBase):
    """An FSx for Lustre file system in a training network's one subnet.

    Its security group and the nodes' get the Lustre ports (tcp 988 and 1018-1023) for each other, in both directions,
    and the file system's group for itself; nothing else is open. `channel` makes a job's input channel of a directory,
    `add_data_repository` fills a directory from S3.

    Construct ids, which are part of the interface: `Resource`, `SecurityGroup`, and `DataRepository<path>`.

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
        storage_capacity: cdk.Size,
        deployment_type: LustreDeploymentType = LustreDeploymentType.PERSISTENT_2,
        per_unit_storage_throughput: int | None = None,
        storage_type: LustreStorageType = LustreStorageType.SSD,
        drive_cache: bool | None = None,
        file_system_type_version: str = "2.15",
        data_compression: bool = False,
        encryption_key: kms.IKey | None = None,
        automatic_backup_retention: cdk.Duration | None = None,
        copy_tags_to_backups: bool = True,
        weekly_maintenance_start_time: str | None = None,
        security_group: ec2.ISecurityGroup | None = None,
        removal_policy: cdk.RemovalPolicy | None = None,
    ) -> None:
        """Create the file system.

        Args:
            scope: The parent construct.
            id: The construct id.
            network: The network in whose subnet the file system lives and whose nodes reach it.
            storage_capacity: Its size: 1,200 GiB, 2,400 GiB or a multiple of 2,400 GiB; other steps for `SCRATCH_1` and
                for hard disks.
            deployment_type: How it keeps its data; persistent by default.
            per_unit_storage_throughput: MB/s for each TiB of capacity, for persistent types. By default the smallest:
                125 for `PERSISTENT_2`, 50 for `PERSISTENT_1`, 12 for its hard disks.
            storage_type: Its disks; solid state by default.
            drive_cache: Whether hard disks get a cache of solid state disks, of a fifth of the capacity. By default
                they do not.
            file_system_type_version: Version of Lustre; 2.15 by default, the newest.
            data_compression: Whether files are compressed (LZ4) when they are written.
            encryption_key: Key for a persistent file system. By default FSx's own key of the account.
            automatic_backup_retention: How many days FSx keeps a daily backup; by default it makes none. Not together
                with data repositories.
            copy_tags_to_backups: Whether backups get the file system's tags.
            weekly_maintenance_start_time: When FSx may do maintenance, as `d:HH:MM` in UTC. By default FSx chooses.
            security_group: An existing group for the file system, which gets the rules above unless it was imported
                with `mutable=False`; then a warning (DT109) says which ones it needs. By default a new group.
            removal_policy: What becomes of the file system, and of its data, when it leaves the stack or must be
                replaced. By default a persistent one stays (and goes on costing), a scratch one is deleted.

        Raises:
            ConfigurationError: Arguments contradict each other or cannot work; all of them are listed.
        """
        super().__init__(scope, id, network=network)
        media = deployment_type.facts.media.get(storage_type.value)
        if per_unit_storage_throughput is None and media is not None and media.throughputs:
            per_unit_storage_throughput = media.throughputs[0]
        gibibytes = storage_capacity.to_gibibytes(rounding=cdk.SizeRoundingBehavior.NONE)
        self._deployment_type = deployment_type
        self._version = file_system_type_version
        self._backup_days = (
            automatic_backup_retention.to_days(integral=False) if automatic_backup_retention is not None else None
        )
        self._repositories: list[DataRepository] = []
        raise_errors(
            [
                *self._storage_findings(storage_type, per_unit_storage_throughput, gibibytes, drive_cache),
                *self._service_findings(encryption_key, weekly_maintenance_start_time, removal_policy),
            ],
            where=self.node.path,
        )
        group = security_group or ec2.SecurityGroup(
            self,
            "SecurityGroup",
            vpc=network.vpc,
            description="FSx for Lustre: Lustre ports among file servers and training nodes",
            allow_all_outbound=False,
            disable_inline_rules=False,
        )
        opened = self._open_ports(group, may_change=security_group is None or may_change(security_group))
        self._resource = fsx.CfnFileSystem(
            self,
            "Resource",
            file_system_type="LUSTRE",
            file_system_type_version=file_system_type_version,
            storage_capacity=gibibytes,
            storage_type=storage_type.value,
            subnet_ids=[network.subnet.subnet_id],
            security_group_ids=[group.security_group_id],
            kms_key_id=encryption_key.key_arn if encryption_key is not None else None,
            lustre_configuration=fsx.CfnFileSystem.LustreConfigurationProperty(
                deployment_type=deployment_type.value,
                per_unit_storage_throughput=per_unit_storage_throughput,
                data_compression_type="LZ4" if data_compression else "NONE",
                automatic_backup_retention_days=self._backup_days,
                copy_tags_to_backups=copy_tags_to_backups if deployment_type.facts.persistent else None,
                weekly_maintenance_start_time=weekly_maintenance_start_time,
                drive_cache_type=_drive_cache_type(storage_type, drive_cache),
            ),
            tags=[cdk.CfnTag(key="Name", value=self.node.path)],
        )
        for rule in opened:  # FSx tries the ports when it creates a file system, and gives up if they are closed
            self._resource.node.add_dependency(rule)
        if removal_policy is None:
            persistent = deployment_type.facts.persistent
            removal_policy = cdk.RemovalPolicy.RETAIN if persistent else cdk.RemovalPolicy.DESTROY
        self._resource.apply_removal_policy(removal_policy)
        self._settle(self._resource.ref, self._resource.attr_lustre_mount_name, self._resource.attr_dns_name, [group])

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
    ) -> None:
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
        raise_errors(
            [*repository.findings(), *self._repository_findings(repository)],
            where=self.node.path,
        )
        place = len(self._repositories) if cdk.Token.is_unresolved(file_system_path) else file_system_path
        repository.create(self, f"DataRepository{place}", file_system_id=self.file_system_id)
        self._repositories.append(repository)

    def _known_directories(self) -> list[str]:
        paths = [repository.file_system_path for repository in self._repositories]
        return [path for path in paths if not cdk.Token.is_unresolved(path)]

    def _storage_findings(
        self, storage: LustreStorageType, throughput: int | None, gibibytes: float, drive_cache: bool | None
    ) -> Iterator[Finding]:
        kind = self._deployment_type.value
        yield from rules.storage_type(kind, storage.value)
        if cdk.Token.is_unresolved(throughput):
            throughput = None
        else:
            yield from rules.throughput(kind, storage.value, throughput)
        if not cdk.Token.is_unresolved(gibibytes):
            yield from rules.capacity(kind, storage.value, throughput, gibibytes)
        if drive_cache is not None:
            yield from rules.drive_cache(storage.value)

    def _service_findings(
        self, encryption_key: kms.IKey | None, weekly_start: str | None, removal_policy: cdk.RemovalPolicy | None
    ) -> Iterator[Finding]:
        kind = self._deployment_type.value
        if not cdk.Token.is_unresolved(self._version):
            yield from rules.version(kind, self._version)
        if encryption_key is not None:
            yield from rules.encryption_key(kind)
        if self._backup_days is not None and not cdk.Token.is_unresolved(self._backup_days):
            yield from rules.backups(kind, self._backup_days)
        if weekly_start is not None and not cdk.Token.is_unresolved(weekly_start):
            yield from rules.weekly_start(weekly_start)
        if removal_policy is not None:
            yield from rules.removal_policy(removal_policy.name)

    def _repository_findings(self, repository: DataRepository) -> Iterator[Finding]:
        others = self._repositories
        kind = self._deployment_type.value
        version = None if cdk.Token.is_unresolved(self._version) else self._version
        yield from rules.repository_support(kind, version)
        yield from rules.repository_count(len(others) + 1)
        if not cdk.Token.is_unresolved(repository.file_system_path):
            yield from rules.repository_overlap(repository.file_system_path, self._known_directories())
        yield from rules.repository_twice(repository.s3_uri, [one.s3_uri for one in others])
        if self._backup_days is not None and not cdk.Token.is_unresolved(self._backup_days):
            yield from rules.backups_of_linked(self._backup_days)


def _drive_cache_type(storage: LustreStorageType, drive_cache: bool | None) -> str | None:
    if storage is not LustreStorageType.HDD:
        return None
    return "READ" if drive_cache else "NONE"  # FSx refuses hard disks without a word on the cache
