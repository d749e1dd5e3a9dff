"""Rules over a file system's further options, as values given to a construct; tokens never get here.

The same facts, over templates, are in `lustre_sizes.py`, `lustre_tiering.py` and `lustre_settings.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cdk_distributed_training.checks.findings import Finding, Severity

_CREATE = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html"
_LUSTRE = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html"
_EFA = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html"
_CACHE = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_LustreReadCacheConfiguration.html"
_LOGS = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_LustreLogCreateConfiguration.html"
_UPDATE = (
    "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-updatereplacepolicy.html"
)

# GiB per step at each throughput (MB/s per TiB), from the page on EFA
EFA_STEPS = {125: 38_400, 250: 19_200, 500: 9_600, 1000: 4_800}

# https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-fsx-filesystem.html, read in
# 2026-11: those that CloudFormation cannot change in place
REPLACING = (
    "network",
    "security_group",
    "encryption_key",
    "backup_id",
    "deployment_type",
    "storage_type",
    "file_system_type_version",
    "per_unit_storage_throughput",
    "drive_cache",
    "efa",
    "copy_tags_to_backups",
)


def missing_capacity() -> Iterator[Finding]:
    """DT232: only elastic storage and backups bring a capacity of their own."""
    yield Finding(
        rule="DT232",
        prop="storage_capacity",
        got="none",
        allowed="a size such as cdk.Size.gibibytes(1200)",
        fix="give the capacity, or choose LustreStorageType.INTELLIGENT_TIERING",
        source=_CREATE,
    )


def metadata_support(deployment: str) -> Iterator[Finding]:
    """DT234: only PERSISTENT_2 has metadata servers of its own."""
    if deployment != "PERSISTENT_2":
        yield Finding(
            rule="DT234",
            prop="metadata",
            got=f"a value with {deployment}",
            allowed="only with PERSISTENT_2",
            fix="leave it out, or choose PERSISTENT_2",
            source=_LUSTRE,
        )


def metadata_operations(iops: float | None, *, tiered: bool) -> Iterator[Finding]:
    """DT235: fixed numbers, fewer of them with elastic storage, which has no automatic mode either."""
    if iops is None:
        fits, got = not tiered, "automatic with INTELLIGENT_TIERING"
    else:
        got = f"{iops:g} operations per second"
        fits = iops in ((6000, 12_000) if tiered else (1500, 3000, 6000)) or (
            not tiered and iops % 12_000 == 0 and 0 < iops <= 192_000
        )
    if not fits:
        yield Finding(
            rule="DT235",
            prop="metadata",
            got=got,
            allowed="6000 or 12000" if tiered else "1500, 3000, 6000, or multiples of 12000 up to 192000",
            fix="choose LustreMetadata.provisioned with one of these",
            source=_LUSTRE,
        )


def efa_support(deployment: str, version: str | None) -> Iterator[Finding]:
    """DT236: it needs PERSISTENT_2 and the newest version of Lustre."""
    if deployment != "PERSISTENT_2":
        got = f"True with {deployment}"
    elif version not in {None, "2.15"}:
        got = f"True with Lustre version {version}"
    else:
        return
    yield Finding(
        rule="DT236",
        prop="efa",
        got=got,
        allowed="True with PERSISTENT_2 and version 2.15",
        fix="choose these, or leave EFA out: training nodes reach the file system by TCP too",
        source=_EFA,
    )


def efa_capacity(gibibytes: float, throughput: int | None) -> Iterator[Finding]:
    """DT237: its steps are larger, the larger the lower the throughput."""
    step = EFA_STEPS.get(throughput or 0)
    if step and gibibytes % step:
        yield Finding(
            rule="DT237",
            prop="storage_capacity",
            got=f"{gibibytes:,.0f} GiB with EFA",
            allowed=f"multiples of {step:,} GiB at {throughput} MB/s per TiB",
            fix=f"choose {(int(gibibytes) // step + 1) * step:,} GiB, or a higher per_unit_storage_throughput",
            source=_EFA,
        )


def not_tiered(given: Sequence[str]) -> Iterator[Finding]:
    """DT240: capacity, throughput per unit and drive caches are of disks."""
    for prop in given:
        yield Finding(
            rule="DT240",
            prop=prop,
            got="a value with INTELLIGENT_TIERING",
            allowed="nothing: this storage grows and shrinks by itself",
            fix="leave it out, and choose throughput_capacity",
            source=_LUSTRE,
        )


def tiered_deployment(deployment: str, version: str | None) -> Iterator[Finding]:
    """DT241: only PERSISTENT_2 has elastic storage."""
    if deployment != "PERSISTENT_2" or version not in {None, "2.15"}:
        yield Finding(
            rule="DT241",
            prop="storage_type",
            got=f"INTELLIGENT_TIERING with {deployment}" + ("" if version is None else f", version {version}"),
            allowed="only with PERSISTENT_2 and version 2.15",
            fix="choose these, or LustreStorageType.SSD",
            source=_LUSTRE,
        )


def throughput_capacity(megabytes: float, *, efa: bool) -> Iterator[Finding]:
    """DT243: 1000, 2000 and multiples of 4000; EFA has the multiples only."""
    if not ((megabytes % 4000 == 0 and 0 < megabytes <= 2_000_000) or (not efa and megabytes in (1000, 2000))):
        yield Finding(
            rule="DT243",
            prop="throughput_capacity",
            got=f"{megabytes:g}{' with EFA' if efa else ''}",
            allowed=("" if efa else "1000, 2000, or ") + "multiples of 4000 up to 2000000 (MB/s)",
            fix="choose one of these",
            source=_LUSTRE,
        )


def only_tiered(given: Sequence[str], *, storage: str) -> Iterator[Finding]:
    """DT244: these are of INTELLIGENT_TIERING alone."""
    for prop in given:
        yield Finding(
            rule="DT244",
            prop=prop,
            got=f"a value with {storage} storage",
            allowed="only with LustreStorageType.INTELLIGENT_TIERING",
            fix="leave it out, or choose that storage type",
            source=_CACHE,
        )


def repository_on_tiered() -> Iterator[Finding]:
    """DT245: elastic storage has no links to S3."""
    yield Finding(
        rule="DT245",
        prop="add_data_repository",
        got="a data repository on INTELLIGENT_TIERING",
        allowed="data repositories on SSD or HDD storage",
        fix="choose LustreStorageType.SSD, or copy the data",
        source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/create-dra-linked-data-repo.html",
    )


def read_cache_size(gibibytes: float, *, throughput: float) -> Iterator[Finding]:
    """DT246: the cache's size is bounded by the throughput."""
    least, most = 8 * throughput / 1000, 32_768 * throughput / 1000
    if not least <= gibibytes <= most or gibibytes != int(gibibytes):
        yield Finding(
            rule="DT246",
            prop="read_cache",
            got=f"{gibibytes:g} GiB at {throughput:g} MB/s",
            allowed=f"whole GiB from {least:g} to {most:g} at this throughput_capacity",
            fix="choose such a size, or LustreReadCache.proportional()",
            source=_CACHE,
        )


def daily_start(text: str, *, backups: bool) -> Iterator[Finding]:
    """DT250: the time of day is written HH:MM, and needs backups to begin then."""
    if not re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", text):
        got, allowed, fix = repr(text), "HH:MM in UTC", "write for example '03:00'"
    elif not backups:
        got, allowed = f"{text!r} without backups", "a time next to automatic_backup_retention"
        fix = "set automatic_backup_retention, or leave this out"
    else:
        return
    yield Finding(
        rule="DT250", prop="daily_automatic_backup_start_time", got=got, allowed=allowed, fix=fix, source=_LUSTRE
    )


def large(gibibytes: float, *, storage: str) -> Iterator[Finding]:
    """DT256 (warning): the default quota of SSD storage of an account is about 100 TiB."""
    if storage == "SSD" and gibibytes > 100_800:
        yield Finding(
            rule="DT256",
            prop="storage_capacity",
            got=f"{gibibytes:,.0f} GiB",
            allowed="within the account's quota, 100,800 GiB unless raised; each month costs as much as the size says",
            fix="raise the quota before, or acknowledge this if it is raised",
            severity=Severity.WARNING,
            source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/limits.html",
        )


def log_group_name(name: str) -> Iterator[Finding]:
    """DT290: FSx may write to log groups of one prefix only."""
    if not name.startswith("/aws/fsx/"):
        yield Finding(
            rule="DT290",
            prop="log_group",
            got=repr(name),
            allowed="a group whose name begins with '/aws/fsx/'",
            fix="name it so, or leave it out for a new one",
            source=_LOGS,
        )


def log_group_without_level() -> Iterator[Finding]:
    """DT290: a group alone starts no logging."""
    yield Finding(
        rule="DT290",
        prop="log_group",
        got="a group without log_level",
        allowed="a group next to log_level",
        fix="set log_level=LustreLogLevel.WARN_ERROR, or leave the group out",
        source=_LOGS,
    )


def same_zone(*, file_system: str, nodes: str) -> Iterator[Finding]:
    """DT291 (warning): a file system of another zone works, at a price in time and money."""
    if file_system != nodes:
        yield Finding(
            rule="DT291",
            prop="availability_zone",
            got=f"{file_system!r}, with nodes in {nodes!r}",
            allowed="the nodes' own zone: traffic between zones is slower, and charged",
            fix="place the network in the file system's zone",
            severity=Severity.WARNING,
            source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/performance.html",
        )


def replaced_with_its_data(deployment: str) -> Iterator[Finding]:
    """DT292 (warning): with DESTROY, a change that replaces a persistent file system deletes its data."""
    yield Finding(
        rule="DT292",
        prop="removal_policy",
        got=f"DESTROY with {deployment}",
        allowed=f"RETAIN, unless the data exist elsewhere: a change of {', '.join(REPLACING)} makes a new, empty file"
        " system and deletes the old one",
        fix="leave it out, or acknowledge this",
        severity=Severity.WARNING,
        source=_UPDATE,
    )


def alarm_threshold(*, tiered: bool) -> Iterator[Finding]:
    """DT293: free space has a measure where there are disks of a known size."""
    yield Finding(
        rule="DT293",
        prop="below",
        got="an alarm on INTELLIGENT_TIERING" if tiered else "none, with a capacity that is known when deployed only",
        allowed="an alarm on disks, whose storage can run out" if tiered else "a size such as cdk.Size.gibibytes(120)",
        fix="leave the alarm out" if tiered else "give the size",
        source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/fs-metrics.html",
    )
