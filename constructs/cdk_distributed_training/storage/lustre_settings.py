"""A file system as the user asked for it: defaults, what is wrong with it, and how CloudFormation takes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import aws_cdk as cdk
from aws_cdk import aws_fsx as fsx

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules import lustre_options, storage
from cdk_distributed_training.storage.lustre_deployment_type import LustreDeploymentType, LustreStorageType
from cdk_distributed_training.storage.lustre_metadata import LustreMetadata
from cdk_distributed_training.storage.lustre_read_cache import LustreReadCache


def _known(value: object) -> bool:
    return value is not None and not cdk.Token.is_unresolved(value)


@dataclass(frozen=True, kw_only=True)
class LustreSettings:
    """The values of a file system; see `LustreFileSystem` for what they mean."""

    gibibytes: float | None
    deployment_type: LustreDeploymentType
    per_unit_storage_throughput: int | None
    storage_type: LustreStorageType
    throughput_capacity: int | None
    read_cache: LustreReadCache | None
    metadata: LustreMetadata | None
    efa: bool
    drive_cache: bool | None
    version: str
    data_compression: bool
    backup_id: str | None
    backup_days: float | None
    daily_automatic_backup_start_time: str | None
    copy_tags_to_backups: bool
    weekly_maintenance_start_time: str | None

    @property
    def tiered(self) -> bool:
        """Whether the storage is elastic."""
        return self.storage_type is LustreStorageType.INTELLIGENT_TIERING

    def complete(self) -> LustreSettings:
        """The same with the defaults that follow from other values."""
        throughput, metadata = self.per_unit_storage_throughput, self.metadata
        if self.tiered:
            return replace(
                self,
                throughput_capacity=self.throughput_capacity or (4000 if self.efa else 1000),
                read_cache=self.read_cache or LustreReadCache.proportional(),
                metadata=metadata or LustreMetadata.provisioned(6000),
            )
        media = self.deployment_type.facts.media.get(self.storage_type.value)
        # a backup knows its own throughput
        if throughput is None and media is not None and media.throughputs and self.backup_id is None:
            throughput = media.throughputs[0]
        if metadata is None and self.efa:
            metadata = LustreMetadata.automatic()
        return replace(self, per_unit_storage_throughput=throughput, metadata=metadata)

    def findings(self) -> Iterator[Finding]:
        """What is wrong with them as they were given, before defaults complete them."""
        yield from self._tiered_findings() if self.tiered else self._disk_findings()
        yield from self._option_findings()
        yield from self._service_findings()

    def _disk_findings(self) -> Iterator[Finding]:
        kind, disks = self.deployment_type.value, self.storage_type.value
        complete = self.complete()
        throughput = complete.per_unit_storage_throughput if _known(complete.per_unit_storage_throughput) else None
        yield from storage.storage_type(kind, disks)
        yield from storage.throughput(kind, disks, throughput)
        if self.gibibytes is None and self.backup_id is None:
            yield from lustre_options.missing_capacity()
        if self.gibibytes is not None and _known(self.gibibytes):
            yield from storage.capacity(kind, disks, throughput, self.gibibytes)
            if self.efa:
                yield from lustre_options.efa_capacity(self.gibibytes, throughput)
        if self.drive_cache is not None:
            yield from storage.drive_cache(disks)
        elastic = {"throughput_capacity": self.throughput_capacity, "read_cache": self.read_cache}
        given = [prop for prop, value in elastic.items() if value is not None]
        yield from lustre_options.only_tiered(given, storage=disks)

    def _tiered_findings(self) -> Iterator[Finding]:
        of_disks = {
            "storage_capacity": self.gibibytes,
            "per_unit_storage_throughput": self.per_unit_storage_throughput,
            "drive_cache": self.drive_cache,
        }
        yield from lustre_options.not_tiered([prop for prop, value in of_disks.items() if value is not None])
        yield from lustre_options.tiered_deployment(
            self.deployment_type.value, self.version if _known(self.version) else None
        )
        throughput = self.complete().throughput_capacity or 0
        if _known(throughput):
            yield from lustre_options.throughput_capacity(throughput, efa=self.efa)
            size = None if self.read_cache is None else self.read_cache.size
            if size is not None and not size.is_unresolved():
                gibibytes = size.to_gibibytes(rounding=cdk.SizeRoundingBehavior.NONE)
                yield from lustre_options.read_cache_size(gibibytes, throughput=throughput)

    def _option_findings(self) -> Iterator[Finding]:
        kind = self.deployment_type.value
        version = self.version if _known(self.version) else None
        if self.metadata is not None:
            yield from lustre_options.metadata_support(kind)
            if self.metadata.iops is None or _known(self.metadata.iops):
                yield from lustre_options.metadata_operations(self.metadata.iops, tiered=self.tiered)
        if self.efa:
            yield from lustre_options.efa_support(kind, version)
        if version is not None and not self.tiered and not self.efa:
            yield from storage.version(kind, version, metadata=self.metadata is not None)

    def _service_findings(self) -> Iterator[Finding]:
        days = self.backup_days
        if days is not None and _known(days):
            yield from storage.backups(self.deployment_type.value, days)
        daily, weekly = self.daily_automatic_backup_start_time, self.weekly_maintenance_start_time
        if daily is not None and _known(daily):
            yield from lustre_options.daily_start(daily, backups=days is not None and (not _known(days) or days > 0))
        if weekly is not None and _known(weekly):
            yield from storage.weekly_start(weekly)

    def render(
        self, log_configuration: fsx.CfnFileSystem.LogConfigurationProperty | None
    ) -> fsx.CfnFileSystem.LustreConfigurationProperty:
        """The part of the resource that is about Lustre."""
        return fsx.CfnFileSystem.LustreConfigurationProperty(
            deployment_type=self.deployment_type.value,
            per_unit_storage_throughput=self.per_unit_storage_throughput,
            throughput_capacity=self.throughput_capacity,
            data_read_cache_configuration=self.read_cache.render() if self.read_cache is not None else None,
            metadata_configuration=self.metadata.render() if self.metadata is not None else None,
            efa_enabled=True if self.efa else None,
            data_compression_type="LZ4" if self.data_compression else "NONE",
            automatic_backup_retention_days=self.backup_days,
            daily_automatic_backup_start_time=self.daily_automatic_backup_start_time,
            copy_tags_to_backups=self.copy_tags_to_backups if self.deployment_type.facts.persistent else None,
            weekly_maintenance_start_time=self.weekly_maintenance_start_time,
            drive_cache_type=self._drive_cache_type(),
            log_configuration=log_configuration,
        )

    def _drive_cache_type(self) -> str | None:
        if self.storage_type is not LustreStorageType.HDD:
            return None
        return "READ" if self.drive_cache else "NONE"  # FSx refuses hard disks without a word on the cache
