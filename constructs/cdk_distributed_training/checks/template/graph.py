"""A template's resources under one choice, with the references between them."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cdk_distributed_training.checks.template.resolve import Resolver
from cdk_distributed_training.checks.template.values import Reference, is_undecided
from cdk_distributed_training.checks.template.view import View
from cdk_distributed_training.checks.template.worlds import World


@dataclass(frozen=True)
class Resource:
    """One resource.

    Attributes:
        logical_id: Its name in the template.
        type: Its type, such as `AWS::FSx::FileSystem`.
        exists: Whether its condition holds; None if the file does not settle that.
        attributes: All members besides the type, such as `DeletionPolicy`, resolved.
    """

    logical_id: str
    type: str
    exists: bool | None
    attributes: Mapping[str, Any]

    @functools.cached_property
    def properties(self) -> View:
        """Its properties."""
        return View(self.attributes.get("Properties", {}), ("Resources", self.logical_id, "Properties"))

    @property
    def path(self) -> tuple[str, ...]:
        """Where it is in the template."""
        return ("Resources", self.logical_id)


class Pointing:
    """Resources of one type by the resource that a property of theirs refers to."""

    def __init__(self) -> None:
        """Know of none yet."""
        self._at_resources: dict[str, list[Resource]] = {}
        self._at_others: list[tuple[Any, Resource]] = []
        self.undecided: list[Resource] = []

    def add(self, resource: Resource, value: Any) -> None:
        """Note a resource and what it refers to."""
        if isinstance(value, Reference):
            self._at_resources.setdefault(value.logical_id, []).append(resource)
        else:
            self._at_others.append((value, resource))
            if is_undecided(value):
                self.undecided.append(resource)

    def at(self, value: Any) -> list[Resource]:
        """The resources that refer to a value."""
        if isinstance(value, Reference):
            return self._at_resources.get(value.logical_id, [])
        return [resource for other, resource in self._at_others if other == value]


class Graph:
    """A template under one choice of parameters and conditions.

    Args:
        template: The template, with all functions in their long form.
        world: The choice.
        region: The stack's region, if known.
    """

    def __init__(self, template: Mapping[str, Any], world: World, *, region: str | None = None) -> None:
        """Resolve nothing yet: each resource is resolved when a rule asks for it."""
        self.template = template
        self.region = region
        self._resolver = Resolver(template, parameters=world.parameters, conditions=world.conditions, region=region)
        rows = template.get("Resources")
        self._rows = {
            str(name): row
            for name, row in (rows.items() if isinstance(rows, dict) else ())
            if isinstance(row, dict) and isinstance(row.get("Type"), str)
        }
        self._resources: dict[str, Resource] = {}
        self._pointing: dict[tuple[str, tuple[str, ...]], Pointing] = {}

    @functools.cached_property
    def _by_type(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name, row in self._rows.items():
            found.setdefault(row["Type"], []).append(name)
        return found

    def resource(self, logical_id: str) -> Resource | None:
        """The resource of a name; None if the template has none or its condition does not hold."""
        row = self._rows.get(logical_id)
        if row is None:
            return None
        if logical_id not in self._resources:
            condition = row.get("Condition")
            exists = self._resolver.truth(condition) if isinstance(condition, str) else True
            attributes = {
                key: self._resolver.resolve(value) for key, value in row.items() if key not in ("Type", "Condition")
            }
            self._resources[logical_id] = Resource(logical_id, row["Type"], exists, attributes)
        resource = self._resources[logical_id]
        return None if resource.exists is False else resource

    def resolve(self, node: Any) -> Any:
        """A node that stands beside the template, as far as the template settles it."""
        return self._resolver.resolve(node)

    def of_type(self, *types: str) -> Iterator[Resource]:
        """The resources of some types that certainly exist."""
        return (resource for resource in self.perhaps_of_type(*types) if resource.exists)

    def perhaps_of_type(self, *types: str) -> Iterator[Resource]:
        """The resources of some types that exist or may exist."""
        for kind in types:
            for name in self._by_type.get(kind, ()):
                resource = self.resource(name)
                if resource is not None:
                    yield resource

    def target(self, value: Any, *types: str) -> Resource | None:
        """The resource that a value refers to, if it is one of these types."""
        resource = self.resource(value.logical_id) if isinstance(value, Reference) else None
        return resource if resource is not None and (not types or resource.type in types) else None

    def pointing(self, kind: str, *properties: str) -> Pointing:
        """The resources of a type by what one of their properties refers to, found once.

        Args:
            kind: The type.
            properties: The property, or several of which the first that is there counts.
        """
        key = (kind, properties)
        if key not in self._pointing:
            index = Pointing()
            for resource in self.perhaps_of_type(kind):
                values = (resource.properties.raw(name) for name in properties)
                index.add(resource, next((value for value in values if value is not None), None))
            self._pointing[key] = index
        return self._pointing[key]

    @functools.cached_property
    def shares(self) -> bool:
        """Whether other stacks see into this one, by exports or nesting, and may add to what it makes."""
        outputs = self.template.get("Outputs")
        exports = any(isinstance(row, dict) and "Export" in row for row in (outputs or {}).values())
        return exports or "AWS::CloudFormation::Stack" in self._by_type
