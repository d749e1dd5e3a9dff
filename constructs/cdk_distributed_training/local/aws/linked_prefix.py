"""A data repository of a file system: a prefix in S3 and a directory, of which each hears of the other's changes.

Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/create-dra-linked-data-repo.html
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cdk_distributed_training.local.aws import clients, s3_folders


class LinkedPrefix:
    """One association, with what is known of both sides.

    Args:
        properties: The association's properties, as the template has them.
        folder: The folder that stands for its directory.
    """

    def __init__(self, properties: Mapping[str, Any], folder: Path) -> None:
        """Nothing is loaded yet."""
        self._uri = str(properties["DataRepositoryPath"]).rstrip("/") + "/"
        self._bucket, self._prefix = s3_folders.split(self._uri)
        self._exported = properties.get("S3", {}).get("AutoExportPolicy", {}).get("Events", [])
        self._folder = folder
        self._objects: dict[str, str] = {}
        self._files: dict[str, tuple[int, int]] = {}

    def load(self) -> None:
        """Bring what is new or changed in S3."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for found in list(s3_folders.objects(self._uri)):
            name = s3_folders.relative(found["Key"], self._prefix)
            if self._objects.get(name) != found["ETag"]:
                target = self._folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                clients.client("s3").download_file(self._bucket, found["Key"], str(target))
                self._objects[name] = found["ETag"]
                self._files[name] = _mark(target)

    def export(self) -> None:
        """Send what the policy for automatic export asks for: new, changed and deleted files."""
        files = {
            path.relative_to(self._folder).as_posix(): _mark(path)
            for path in self._folder.rglob("*")
            if path.is_file() and self._exported
        }
        for name, mark in sorted(files.items()):
            event = "NEW" if name not in self._files else "CHANGED"
            if self._files.get(name) != mark and event in self._exported:
                content = (self._folder / name).read_bytes()
                sent = clients.client("s3").put_object(Bucket=self._bucket, Key=f"{self._prefix}{name}", Body=content)
                self._files[name], self._objects[name] = mark, sent["ETag"]
        for name in sorted(self._files.keys() - files.keys()) if "DELETED" in self._exported else ():
            clients.client("s3").delete_object(Bucket=self._bucket, Key=f"{self._prefix}{name}")
            del self._files[name]
            self._objects.pop(name, None)


def _mark(path: Path) -> tuple[int, int]:
    state = path.stat()
    return state.st_mtime_ns, state.st_size
