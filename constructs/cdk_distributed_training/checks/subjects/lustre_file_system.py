"""File systems of FSx for Lustre, and the data repositories linked to them."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

from cdk_distributed_training.checks.rules.lustre_deployments import DEPLOYMENTS
from cdk_distributed_training.checks.scene import Scene
from cdk_distributed_training.checks.subjects.security_groups import SecurityGroups
from cdk_distributed_training.checks.template.graph import Graph, Resource
from cdk_distributed_training.checks.template.values import Reference, Token
from cdk_distributed_training.checks.template.view import NotJudgedError, Path, View, values

FILE_SYSTEM = "AWS::FSx::FileSystem"
ASSOCIATION = "AWS::FSx::DataRepositoryAssociation"
_NONE = ("NONE", None)


@dataclass(frozen=True)
class LustreFileSystem:
    """One file system.

    Attributes:
        resource: The resource.
        graph: The template around it.
    """

    resource: Resource
    graph: Graph

    @property
    def path(self) -> Path:
        """Where its properties are."""
        return self.resource.properties.path

    @functools.cached_property
    def view(self) -> View:
        """Its properties."""
        return View(self.resource.properties.value)

    @functools.cached_property
    def lustre(self) -> View:
        """Its Lustre configuration."""
        return self.view.view("LustreConfiguration")

    @functools.cached_property
    def deployment(self) -> str:
        """Its deployment type; FSx's default is SCRATCH_1."""
        return self.lustre.text("DeploymentType") or "SCRATCH_1"

    @property
    def known_deployment(self) -> str:
        """Its deployment type, if that is one that the rules have facts of."""
        if self.deployment not in DEPLOYMENTS:
            raise NotJudgedError(("LustreConfiguration", "DeploymentType"))
        return self.deployment

    @property
    def storage(self) -> str:
        """Its kind of storage: `SSD`, `HDD` or `INTELLIGENT_TIERING`."""
        return self.view.text("StorageType") or "SSD"

    @property
    def is_tiered(self) -> bool:
        """Whether its capacity is elastic."""
        return self.storage == "INTELLIGENT_TIERING"

    @property
    def has_efa(self) -> bool:
        """Whether clients may use EFA."""
        return self.lustre.flag("EfaEnabled")

    @property
    def has_metadata(self) -> bool:
        """Whether it has a metadata configuration."""
        return self.lustre.has("MetadataConfiguration")

    @property
    def is_restored(self) -> bool:
        """Whether it is made of a backup, which brings its sizes."""
        return self.view.has("BackupId")

    @property
    def groups(self) -> SecurityGroups:
        """Its security groups."""
        return SecurityGroups(self.graph, self.group_ids)

    @property
    def group_ids(self) -> list[object]:
        """The ids of its security groups."""
        return values(self.view, "SecurityGroupIds")

    @property
    def associations(self) -> list[Resource]:
        """The data repository associations that this template makes for it."""
        pointing = self.graph.pointing(ASSOCIATION, "FileSystemId")
        return [found for found in pointing.at(Reference(self.resource.logical_id)) if found.exists]

    @property
    def imports(self) -> bool:
        """Whether it is linked to S3 in the older way."""
        return self.lustre.raw("ImportPath") not in _NONE

    @classmethod
    def find(cls, scene: Scene) -> Iterator[LustreFileSystem]:
        """Every Lustre file system of a template."""
        for resource in scene.graph.of_type(FILE_SYSTEM):
            properties = resource.properties
            kind = properties.raw("FileSystemType") if not isinstance(properties.value, Token) else None
            if kind == "LUSTRE":
                yield cls(resource, scene.graph)


@dataclass(frozen=True)
class DataRepository:
    """One data repository association.

    Attributes:
        resource: The resource.
        graph: The template around it.
    """

    resource: Resource
    graph: Graph

    @property
    def path(self) -> Path:
        """Where its properties are."""
        return self.resource.properties.path

    @functools.cached_property
    def view(self) -> View:
        """Its properties."""
        return View(self.resource.properties.value)

    @property
    def file_system(self) -> LustreFileSystem:
        """The file system that it belongs to.

        Raises:
            NotJudgedError: It is not in this template.
        """
        target = self.graph.target(self.view.raw("FileSystemId"), FILE_SYSTEM)
        if target is None:
            raise NotJudgedError(("FileSystemId",))
        return LustreFileSystem(target, self.graph)

    @classmethod
    def find(cls, scene: Scene) -> Iterator[DataRepository]:
        """Every association of a template."""
        return (cls(resource, scene.graph) for resource in scene.graph.of_type(ASSOCIATION))
