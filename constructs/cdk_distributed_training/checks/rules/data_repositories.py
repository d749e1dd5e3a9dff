"""Rules over links between FSx for Lustre and S3 (DT210 to DT216, DT218). Pure functions over plain values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules.lustre_deployments import DEPLOYMENTS

_ASSOCIATION = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryAssociation.html"


def repository_support(deployment: str, lustre_version: str | None) -> Iterator[Finding]:
    """DT210: data repositories need a deployment type and a version that can be linked."""
    if not DEPLOYMENTS[deployment].data_repositories:
        yield Finding(
            rule="DT210",
            prop="add_data_repository",
            got=f"a data repository on {deployment}",
            allowed=", ".join(name for name, facts in DEPLOYMENTS.items() if facts.data_repositories),
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
