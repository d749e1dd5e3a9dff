"""Resources that a change of their template makes CloudFormation replace, delete or forget."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cdk_distributed_training.checks.scene import Scene
from cdk_distributed_training.checks.template.comparison import Comparison
from cdk_distributed_training.checks.template.document import Kind
from cdk_distributed_training.checks.template.graph import Resource
from cdk_distributed_training.checks.template.values import Token, describe
from cdk_distributed_training.checks.template.view import NotJudgedError, Path, View
from cdk_distributed_training.data.tables import replacing_properties


@dataclass(frozen=True)
class Cause:
    """Why a resource is replaced.

    Attributes:
        prop: The property that changes, such as `SubnetIds`.
        text: How it changes, in words.
        follows: Whether it refers to a resource that is replaced itself.
    """

    prop: str
    text: str
    follows: bool

    @property
    def path(self) -> Path:
        """Keys of the property."""
        return tuple(self.prop.split("."))


class Changes:
    """A template before and after, with what is replaced for what reason."""

    def __init__(self, comparison: Comparison) -> None:
        """Ask nothing yet."""
        self.comparison = comparison
        self._causes: dict[str, Cause | None] = {}

    def cause(self, logical_id: str) -> Cause | None:
        """Why a resource is certainly replaced; None if it is not, or if that is not known."""
        if logical_id not in self._causes:
            self._causes[logical_id] = None  # resources that refer to each other replace nobody by that
            resource = self.comparison.after.resource(logical_id)
            facts = replacing_properties().get(resource.type) if resource is not None else None
            if facts is not None and self.comparison.before.resource(logical_id) is not None:
                self._causes[logical_id] = self.first(logical_id, facts.always)
        return self._causes[logical_id]

    def first(self, logical_id: str, paths: tuple[str, ...]) -> Cause | None:
        """The first of some properties that certainly changes."""
        for path in paths:
            if self.comparison.changes(logical_id, path, self.is_replaced):
                old, new = self.comparison.values(logical_id, path)
                follows = old == new
                change = ", whose resource is replaced" if follows else f" from {_shown(old)} to {_shown(new)}"
                return Cause(path, f"{path}{change}", follows)
        return None

    def unsettled(self, logical_id: str, paths: tuple[str, ...]) -> str | None:
        """The first of some properties of which the files do not tell whether it changes."""
        return next((p for p in paths if self.comparison.changes(logical_id, p, self.is_replaced) is None), None)

    def is_replaced(self, logical_id: str) -> bool:
        """Whether a resource is certainly replaced."""
        return self.cause(logical_id) is not None


@dataclass(frozen=True)
class Update:
    """One resource of the deployed template, and what becomes of it.

    Attributes:
        before: The resource as it is deployed.
        after: The resource as it will be; None if it is no longer in the template.
        changes: The whole change.
    """

    before: Resource
    after: Resource | None
    changes: Changes

    @property
    def path(self) -> Path:
        """Where its properties are in the new template, as far as it is there."""
        return self.before.path if self.after is None else self.after.properties.path

    @property
    def type(self) -> str:
        """Its type."""
        return self.before.type

    @functools.cached_property
    def cause(self) -> Cause | None:
        """Why it is replaced; None if it is not replaced.

        Raises:
            NotJudgedError: Values that are settled at deployment decide.
        """
        cause = self.changes.cause(self.before.logical_id) if self.after is not None else None
        if cause is None and self.after is not None:
            unsettled = self.changes.unsettled(self.before.logical_id, replacing_properties()[self.type].always)
            if unsettled is not None:
                raise NotJudgedError(tuple(unsettled.split(".")))
        return cause

    @property
    def is_lost(self) -> bool:
        """Whether it is replaced or removed."""
        return self.after is None or self.cause is not None

    @property
    def place(self) -> Path:
        """The property that replaces it; empty if it is removed."""
        return self.cause.path if self.cause is not None else ()

    @property
    def words(self) -> str:
        """What happens to it, in words."""
        return f"replaced by {self.cause.text}" if self.cause is not None else "no longer in the template"

    @property
    def policy(self) -> str:
        """The attribute that decides about the old resource."""
        return "DeletionPolicy" if self.after is None else "UpdateReplacePolicy"

    @property
    def is_kept(self) -> bool:
        """Whether CloudFormation leaves the old resource where it is, outside of the stack."""
        policy = (self.after or self.before).attributes.get(self.policy)
        if isinstance(policy, Token):
            raise NotJudgedError(("..", self.policy) if self.after is not None else ())
        return policy in ("Retain", "RetainExceptOnCreate")

    @property
    def keeps_its_name(self) -> bool:
        """Whether it has a name of the user's choice that stays."""
        name = replacing_properties()[self.type].name
        old = View(self.before.properties.value).raw(name) if name else None
        return old is not None and self.stays(name)

    def stays(self, *props: str) -> bool:
        """Whether properties certainly keep their values.

        Raises:
            NotJudgedError: The files do not tell.
        """
        return not any(self.differs(prop) for prop in props)

    def differs(self, prop: str) -> bool:
        """Whether a property certainly changes.

        Raises:
            NotJudgedError: The files do not tell.
        """
        changed = self.changes.comparison.changes(self.before.logical_id, prop, self.changes.is_replaced)
        if changed is None:
            raise NotJudgedError(tuple(prop.split(".")))
        return changed

    @classmethod
    def find(cls, scene: Scene) -> Iterator[Update]:
        """Every resource of the deployed template whose loss matters."""
        document = scene.document
        if document.before is None or document.kind is not Kind.TEMPLATE or scene.world.label:
            return  # what is deployed was deployed under one choice, and stays under it
        old, new = document.before.source.content, document.source.content
        changes = Changes(Comparison(old, new, region=document.region or document.before.region))
        for before in changes.comparison.before.of_type(*replacing_properties()):
            after = changes.comparison.after.resource(before.logical_id)
            # CloudFormation itself refuses another type under a known name, before it changes anything
            if after is None or (after.type == before.type and after.exists):
                yield cls(before, after, changes)


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_shown, value)) or "none"
    if value is None:
        return "nothing"
    return describe(value) if isinstance(value, Token) else str(value)
