"""Training jobs that read a Lustre file system of the same template."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cdk_distributed_training.checks.scene import Scene
from cdk_distributed_training.checks.subjects.lustre_file_system import FILE_SYSTEM, LustreFileSystem
from cdk_distributed_training.checks.subjects.node_group import NodeGroup
from cdk_distributed_training.checks.subjects.security_groups import SecurityGroups
from cdk_distributed_training.checks.subjects.training_request import TrainingRequest
from cdk_distributed_training.checks.template.values import Token
from cdk_distributed_training.checks.template.view import Path, View


@dataclass(frozen=True)
class LustreClient:
    """A job and a file system that one of its channels brings.

    Attributes:
        request: The job.
        nodes: Its machines.
        channel: The channel's data source.
        file_system: The file system.
    """

    request: TrainingRequest
    nodes: NodeGroup
    channel: View
    file_system: LustreFileSystem

    @property
    def path(self) -> Path:
        """Where the job is."""
        return self.request.path

    @property
    def groups(self) -> SecurityGroups:
        """The job's security groups."""
        return self.nodes.groups

    @classmethod
    def find(cls, scene: Scene) -> Iterator[LustreClient]:
        """Every pair of a job and a file system of one template."""
        nodes = {group.path: group for group in scene.all(NodeGroup)}
        for request in scene.all(TrainingRequest):
            channels = request.view.raw("InputDataConfig") if not isinstance(request.value, Token) else None
            for index, channel in enumerate(channels if isinstance(channels, list) else ()):
                source = channel.get("DataSource") if isinstance(channel, dict) else None
                data = source.get("FileSystemDataSource") if isinstance(source, dict) else None
                identifier = data.get("FileSystemId") if isinstance(data, dict) else None
                resource = scene.graph.target(identifier, FILE_SYSTEM)
                if resource is not None and resource.exists:
                    path: Path = ("InputDataConfig", index, "DataSource", "FileSystemDataSource")
                    file_system = LustreFileSystem(resource, scene.graph)
                    yield cls(request, nodes[request.path], View(data, path), file_system)
