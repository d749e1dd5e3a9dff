"""S3 prefixes and folders of this machine, in both directions."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cdk_distributed_training.local.aws import clients


def split(uri: str) -> tuple[str, str]:
    """Bucket and key of `s3://bucket/key`."""
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    return bucket, key


def objects(uri: str) -> Iterator[dict[str, Any]]:
    """The objects under a prefix, without those that stand for folders."""
    bucket, prefix = split(uri)
    pages = clients.client("s3").get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
    for page in pages:
        yield from (found for found in page.get("Contents", []) if not found["Key"].endswith("/"))


def relative(key: str, prefix: str) -> str:
    """Where an object lands in the folder of its prefix; a prefix that is the whole key gives the key's last part."""
    rest = key.removeprefix(prefix).lstrip("/")
    return rest if rest and (prefix.endswith("/") or key[len(prefix)] == "/") else key[prefix.rfind("/") + 1 :]


def no_such_bucket() -> type[Exception]:
    """What reading from a bucket that does not exist raises."""
    kind: type[Exception] = clients.client("s3").exceptions.NoSuchBucket
    return kind


def download(uri: str, folder: Path) -> list[str]:
    """Copy all objects under a prefix into a folder.

    Returns:
        What was copied, relative to the folder.
    """
    bucket, prefix = split(uri)
    client = clients.client("s3")
    copied = []
    for found in objects(uri):
        name = relative(found["Key"], prefix)
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        client.download_file(bucket, found["Key"], str(target))
        copied.append(name)
    return copied


def upload(folder: Path, uri: str) -> None:
    """Copy all files of a folder under a prefix."""
    bucket, prefix = split(uri)
    client = clients.client("s3")
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            client.upload_file(str(path), bucket, f"{prefix.rstrip('/')}/{path.relative_to(folder).as_posix()}")


class Mirror:
    """Copies what is new or changed in folders to one prefix, each time it is asked; never deletes.

    Args:
        uri: The prefix.
    """

    def __init__(self, uri: str) -> None:
        """Nothing is copied yet."""
        self._bucket, prefix = split(uri)
        self._prefix = prefix.rstrip("/")
        self._seen: dict[Path, tuple[int, int]] = {}

    def update(self, folders: list[Path]) -> None:
        """Copy what has changed since the last time."""
        client = clients.client("s3")
        for folder in folders:
            for path in sorted(folder.rglob("*")):
                # a file may be renamed between the look and the read, as whoever writes files whole does
                with contextlib.suppress(FileNotFoundError):
                    state = path.stat()
                    mark = (state.st_mtime_ns, state.st_size)
                    if not path.is_file() or self._seen.get(path) == mark:
                        continue
                    key = f"{self._prefix}/{path.relative_to(folder).as_posix()}"
                    client.put_object(Bucket=self._bucket, Key=key, Body=path.read_bytes())
                    self._seen[path] = mark


def send(file: Path, bucket: str, key: str) -> None:
    """Copy one file."""
    clients.client("s3").upload_file(str(file), bucket, key)
