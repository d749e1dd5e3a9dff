"""Rules over channels of file systems (DT220 to DT223). Pure functions over plain values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cdk_distributed_training.checks.findings import Finding

_CHANNEL = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_FileSystemDataSource.html"


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
