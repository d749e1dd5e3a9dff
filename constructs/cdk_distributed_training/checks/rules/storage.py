"""Rules DT2xx: FSx for Lustre and its channels. Pure functions over plain values; tokens never get here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules.lustre_deployments import DEPLOYMENTS

_CREATE = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html"
_LUSTRE = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html"


def _words(values: Sequence[object]) -> str:
    return ", ".join(str(value) for value in values)


def storage_type(deployment: str, storage: str) -> Iterator[Finding]:
    """DT201: hard disks come with PERSISTENT_1 only."""
    media = DEPLOYMENTS[deployment].media
    if storage not in media:
        offering = [name for name, facts in DEPLOYMENTS.items() if storage in facts.media]
        yield Finding(
            rule="DT201",
            prop="storage_type",
            got=f"{storage} with {deployment}",
            allowed=_words(list(media)),
            fix=f"choose one of these, or a deployment type that offers {storage}: {_words(offering)}",
            source=_CREATE,
        )


def throughput(deployment: str, storage: str, given: int | None) -> Iterator[Finding]:
    """DT202: the throughput is one that the deployment type offers; scratch file systems take none."""
    media = DEPLOYMENTS[deployment].media.get(storage)
    if media is None or given is None or given in media.throughputs:
        return
    if not media.throughputs:
        yield Finding(
            rule="DT202",
            prop="per_unit_storage_throughput",
            got=f"{given} with {deployment}",
            allowed="nothing: a scratch file system has a fixed throughput of 200 MB/s per TiB",
            fix="leave it out, or choose a persistent deployment type",
            source=_LUSTRE,
        )
    else:
        yield Finding(
            rule="DT202",
            prop="per_unit_storage_throughput",
            got=f"{given} with {deployment} on {storage}",
            allowed=f"{_words(media.throughputs)} (MB/s per TiB)",
            fix="choose one of these, or another deployment type",
            source=_LUSTRE,
        )


def capacity(deployment: str, storage: str, throughput: int | None, gibibytes: float) -> Iterator[Finding]:
    """DT203: the capacity is a size that FSx makes."""
    media = DEPLOYMENTS[deployment].media.get(storage)
    sizes = media.sizes_at(throughput) if media is not None else None
    if sizes is not None and not sizes.allow(gibibytes):
        near = " or ".join(f"{size:,}" for size in sizes.near(gibibytes))
        yield Finding(
            rule="DT203",
            prop="storage_capacity",
            got=f"{gibibytes:,} GiB with {deployment} on {storage}",
            allowed=str(sizes),
            fix=f"choose {near} GiB",
            source=_CREATE,
        )


def version(deployment: str, given: str, *, metadata: bool = False) -> Iterator[Finding]:
    """DT204: the Lustre version exists for the deployment type; with a metadata configuration, the newest only."""
    allowed = ("2.15",) if metadata else DEPLOYMENTS[deployment].versions
    if given not in allowed:
        yield Finding(
            rule="DT204",
            prop="file_system_type_version",
            got=f"{given!r} with {deployment}" + (" and a metadata configuration" if metadata else ""),
            allowed=_words(allowed),
            fix="use 2.15, which every deployment type has",
            source=_CREATE,
        )


def encryption_key(deployment: str) -> Iterator[Finding]:
    """DT205: a key of one's own needs a persistent file system."""
    if not DEPLOYMENTS[deployment].persistent:
        yield Finding(
            rule="DT205",
            prop="encryption_key",
            got=f"a key with {deployment}",
            allowed="only with PERSISTENT_1 or PERSISTENT_2; FSx encrypts scratch file systems with its own key",
            fix="leave it out, or choose a persistent deployment type",
            source=_CREATE,
        )


def backups(deployment: str, days: float) -> Iterator[Finding]:
    """DT206: automatic backups need a persistent file system, and are kept for at most 90 days."""
    if days != int(days) or not 0 <= days <= 90:
        yield Finding(
            rule="DT206",
            prop="automatic_backup_retention",
            got=f"{days:g} days",
            allowed="whole days, from 0 (no backups) to 90",
            fix="choose a number of days in that range",
            source=_LUSTRE,
        )
    elif days > 0 and not DEPLOYMENTS[deployment].persistent:
        yield Finding(
            rule="DT206",
            prop="automatic_backup_retention",
            got=f"{days:g} days with {deployment}",
            allowed="0 days: scratch file systems have no backups",
            fix="leave it out, or choose a persistent deployment type",
            source=_LUSTRE,
        )


def backups_of_linked(days: float) -> Iterator[Finding]:
    """DT209: FSx makes no backups of a file system that is linked to S3."""
    if days > 0:
        yield Finding(
            rule="DT209",
            prop="automatic_backup_retention",
            got=f"{days:g} days with a data repository",
            allowed="0 days: what is linked to S3 is kept there",
            fix="leave out the retention, or the data repository",
            source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-backups-fsx.html",
        )


def weekly_start(text: str) -> Iterator[Finding]:
    """DT207: the maintenance window's start is written d:HH:MM."""
    if not re.fullmatch(r"[1-7]:([01]\d|2[0-3]):[0-5]\d", text):
        yield Finding(
            rule="DT207",
            prop="weekly_maintenance_start_time",
            got=repr(text),
            allowed="d:HH:MM in UTC, with d from 1 (Monday) to 7",
            fix="write for example '7:03:00'",
            source=_LUSTRE,
        )


def drive_cache(storage: str) -> Iterator[Finding]:
    """DT208: only hard disks have a cache of solid state disks before them."""
    if storage != "HDD":
        yield Finding(
            rule="DT208",
            prop="drive_cache",
            got=f"a value with {storage}",
            allowed="only with HDD",
            fix="leave it out",
            source=_LUSTRE,
        )


def removal_policy(name: str) -> Iterator[Finding]:
    """DT217: CloudFormation makes no snapshot of a file system that it deletes."""
    if name == "SNAPSHOT":
        yield Finding(
            rule="DT217",
            prop="removal_policy",
            got=name,
            allowed="RETAIN, RETAIN_ON_UPDATE_OR_DELETE, DESTROY",
            fix="choose RETAIN, or let automatic_backup_retention keep backups",
            source="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html",
        )
