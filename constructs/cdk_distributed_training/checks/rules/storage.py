"""Rules DT2xx: FSx for Lustre and its channels. Pure functions over plain values; tokens never get here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules.lustre_deployments import DEPLOYMENTS

_CREATE = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html"
_LUSTRE = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html"
_ASSOCIATION = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryAssociation.html"
_CHANNEL = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_FileSystemDataSource.html"


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


def repository_support(deployment: str, lustre_version: str | None) -> Iterator[Finding]:
    """DT210: data repositories need a deployment type and a version that can be linked."""
    if not DEPLOYMENTS[deployment].data_repositories:
        yield Finding(
            rule="DT210",
            prop="add_data_repository",
            got=f"a data repository on {deployment}",
            allowed=_words([name for name, facts in DEPLOYMENTS.items() if facts.data_repositories]),
            fix="choose another deployment_type",
            source=_ASSOCIATION,
        )
    if lustre_version == "2.10":
        yield Finding(
            rule="DT210",
            prop="add_data_repository",
            got="a data repository on Lustre version 2.10",
            allowed="2.12, 2.15",
            fix="set file_system_type_version to '2.15'",
            source=_ASSOCIATION,
        )


def repository_count(count: int) -> Iterator[Finding]:
    """DT211: a file system has at most eight data repositories."""
    if count > 8:
        yield Finding(
            rule="DT211",
            prop="add_data_repository",
            got=f"{count} data repositories",
            allowed="at most 8",
            fix="link a prefix further up",
            source=_ASSOCIATION,
        )


def repository_region(*, bucket: str, file_system: str) -> Iterator[Finding]:
    """DT218: events of a bucket reach file systems of its own region only."""
    if bucket != file_system:
        yield Finding(
            rule="DT218",
            prop="auto_import",
            got=f"events from a bucket in {bucket}, with a file system in {file_system}",
            allowed="events from a bucket of the file system's region",
            fix="pass auto_import=[] and auto_export=[], or replicate the bucket",
            source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/autoimport-data-repo-dra.html",
        )


def repository_path(path: str) -> Iterator[Finding]:
    """DT212: the file system's side of a link is an absolute directory."""
    if not path.startswith("/") or ".." in path.split("/") or len(path) > 4096:
        yield Finding(
            rule="DT212",
            prop="file_system_path",
            got=repr(path),
            allowed="a directory from the file system's root, such as '/corpus', without '..'",
            fix=f"write '/{path.strip('/')}'" if ".." not in path else "write the directory itself",
            source=_ASSOCIATION,
        )


def repository_prefix(prefix: str) -> Iterator[Finding]:
    """DT213: the bucket's side of a link is a prefix, not an address."""
    if prefix.startswith("/") or "://" in prefix:
        yield Finding(
            rule="DT213",
            prop="prefix",
            got=repr(prefix),
            allowed="a key prefix inside of the bucket, such as 'corpus/'",
            fix="leave out the leading slash, the scheme and the bucket",
            source=_ASSOCIATION,
        )


def repository_overlap(path: str, others: Sequence[str]) -> Iterator[Finding]:
    """DT214: no two links share a directory, and a link of the root stands alone."""
    mine = f"{path.rstrip('/')}/"
    for other in others:
        theirs = f"{other.rstrip('/')}/"
        if mine.startswith(theirs) or theirs.startswith(mine):
            yield Finding(
                rule="DT214",
                prop="file_system_path",
                got=f"{path!r} next to {other!r}",
                allowed="directories of which none contains another",
                fix="link them side by side, such as '/a' and '/b'",
                source=_ASSOCIATION,
            )


def repository_twice(address: str, others: Sequence[str]) -> Iterator[Finding]:
    """DT215: no prefix of a bucket is linked twice."""
    if address in others:
        yield Finding(
            rule="DT215",
            prop="prefix",
            got=f"{address}, which is linked already",
            allowed="one link for each prefix",
            fix="use the directory of the first link",
            source=_ASSOCIATION,
        )


def chunk_size(mebibytes: float) -> Iterator[Finding]:
    """DT216: the stripe size of imported files."""
    if not 1 <= mebibytes <= 512_000 or mebibytes != int(mebibytes):
        yield Finding(
            rule="DT216",
            prop="imported_file_chunk_size",
            got=f"{mebibytes:g} MiB",
            allowed="whole MiB from 1 to 512,000",
            fix="leave it out for 1,024 MiB",
            source=_ASSOCIATION,
        )


def directory_path(path: str) -> Iterator[Finding]:
    """DT220: a channel's directory starts at the file system's root, and the mount name is not part of it."""
    problem = None
    if not path.startswith("/"):
        problem = f"write '/{path}'"
    elif ".." in path.split("/"):
        problem = "write the directory itself"
    elif len(path) > 4000:
        problem = "choose a shorter path"
    if problem is not None:
        yield Finding(
            rule="DT220",
            prop="directory_path",
            got=repr(path if len(path) < 100 else f"{path[:100]}..."),
            allowed="a directory from the file system's root, such as '/corpus', without '..'",
            fix=problem,
            source=_CHANNEL,
        )


def mount_name_in_path(path: str, *, mount_name: str | None, repositories: Sequence[str]) -> Iterator[Finding]:
    """DT221: the mount name comes in front by itself; `/fsx` is what older guides write for it.

    Args:
        path: The channel's directory.
        mount_name: The mount name, if it is known.
        repositories: Directories that are known to exist: those of data repositories.
    """
    first = path.strip("/").split("/")[0]
    if first not in {"fsx", mount_name} or any(known.strip("/").split("/")[0] == first for known in repositories):
        return
    rest = path.strip("/")[len(first) :] or "/"
    yield Finding(
        rule="DT221",
        prop="directory_path",
        got=repr(path),
        allowed="a directory from the file system's root; the mount name is put in front of it",
        fix=f"write {rest!r}",
        source=_CHANNEL,
    )


def access_mode(mode: str) -> Iterator[Finding]:
    """DT222: a channel is mounted to read, or to read and write."""
    if mode not in {"ro", "rw"}:
        yield Finding(
            rule="DT222",
            prop="access_mode",
            got=repr(mode),
            allowed="'ro', 'rw'",
            fix="choose one of these",
            source=_CHANNEL,
        )


def file_system_id(identifier: str) -> Iterator[Finding]:
    """DT223: an imported file system is named by its id."""
    if not re.fullmatch(r"fs-[0-9a-f]{8,}", identifier):
        yield Finding(
            rule="DT223",
            prop="file_system_id",
            got=repr(identifier),
            allowed="an id such as 'fs-0123456789abcdef0'",
            fix="pass the id, not a name, an ARN or a host name",
            source=_CHANNEL,
        )
