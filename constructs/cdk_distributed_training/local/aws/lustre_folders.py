"""Folders of this machine that stand for FSx for Lustre file systems."""

from __future__ import annotations

from pathlib import Path

from moto.fsx.models import fsx_backends

from cdk_distributed_training.local.aws.additions.recorded_resources import recorded
from cdk_distributed_training.local.aws.file_system_folders import FileSystemFolders
from cdk_distributed_training.local.aws.linked_prefix import LinkedPrefix
from cdk_distributed_training.local.aws.server import ACCOUNT, REGION

_ASSOCIATION = "AWS::FSx::DataRepositoryAssociation"


class LustreFolders(FileSystemFolders):
    """What a file system's data repositories hold is loaded when a directory is asked for.

    Args:
        root: Parent of the folders.
    """

    def __init__(self, root: Path) -> None:
        """Nothing is loaded yet."""
        super().__init__(root)
        self._linked: dict[str, LinkedPrefix] = {}

    def exists(self, identity: str) -> bool:
        """Whether FSx has it."""
        return identity in fsx_backends[ACCOUNT][REGION].file_systems

    def inside(self, path: str) -> str:
        """A directory's path begins with the mount name, which is no folder."""
        return path.strip("/").partition("/")[2]

    def load(self, identity: str) -> None:
        """Bring what is new or changed in its data repositories."""
        for linked in self._links(identity):
            linked.load()

    def export(self, identity: str) -> None:
        """Send what its data repositories are to hear of."""
        for linked in self._links(identity):
            linked.export()

    def _links(self, identity: str) -> list[LinkedPrefix]:
        found = []
        for association in recorded(_ASSOCIATION):
            if association.properties.get("FileSystemId") != identity:
                continue
            name = association.physical_resource_id
            if name not in self._linked:
                inside = str(association.properties.get("FileSystemPath", "/")).strip("/")
                self._linked[name] = LinkedPrefix(association.properties, self.folder(identity) / inside)
            found.append(self._linked[name])
        return found
