"""Two versions of one template: which properties of which resources change.

A parameter keeps the value that it was deployed with, so it counts as unchanged where both versions refer to it, also
if its default is another. Where a parameter takes the place of a literal, its default counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from cdk_distributed_training.checks.template.graph import Graph, Resource
from cdk_distributed_training.checks.template.values import PartialText, Reference, Token, Unknown, text_of
from cdk_distributed_training.checks.template.worlds import World, default_world

Replaced = Callable[[str], bool]


@dataclass(frozen=True)
class _MemberOf(Token):
    """A member, if it has one, of what is settled only at deployment."""

    whole: Token


class Comparison:
    """A template before and after a change.

    Attributes:
        before: Its resources before, every parameter at its default.
        after: The same, after.
    """

    def __init__(self, before: Mapping[str, Any], after: Mapping[str, Any], *, region: str | None) -> None:
        """Compare nothing yet."""
        self.before = Graph(before, default_world(before), region=region)
        self.after = Graph(after, default_world(after), region=region)
        self._undecided = (Graph(before, World(), region=region), Graph(after, World(), region=region))

    def changes(self, logical_id: str, path: str, replaced: Replaced) -> bool | None:
        """Whether a property of a resource gets another value; None if the files do not settle it.

        Args:
            logical_id: The resource.
            path: The property, such as `LustreConfiguration.DeploymentType`.
            replaced: Whether another resource is replaced: what refers to it then gets another value, too.
        """
        for before, after in (self._undecided, (self.before, self.after)):
            old, new = (_value(graph.resource(logical_id), path) for graph in (before, after))
            changed = differ(old, new, replaced)
            if changed is not None:
                return changed
        return None

    def values(self, logical_id: str, path: str) -> tuple[Any, Any]:
        """A property's values before and after, every parameter at its default."""
        return _value(self.before.resource(logical_id), path), _value(self.after.resource(logical_id), path)


def differ(old: Any, new: Any, replaced: Replaced) -> bool | None:
    """Whether a value changes; None if that is not known."""
    if old is None or new is None:
        other = new if old is None else old
        perhaps_absent = isinstance(other, _MemberOf) or (isinstance(other, Unknown) and "Fn::If" in other.expression)
        return None if perhaps_absent else other is not None
    if isinstance(old, Token) or isinstance(new, Token):
        return _tokens_differ(old, new, replaced)
    if isinstance(old, list) and isinstance(new, list):
        return _lists_differ(old, new, replaced)
    is_text = not isinstance(old, (dict, list)) and not isinstance(new, (dict, list))
    return text_of(old) != text_of(new) if is_text else bool(old != new)


def _tokens_differ(old: Any, new: Any, replaced: Replaced) -> bool | None:
    if isinstance(old, Reference) and isinstance(new, Reference) and old.logical_id != new.logical_id:
        return True
    if old != new:
        return None  # a group's `Ref` and its `GroupId` may be the same, a parameter and a literal too
    parts = old.parts if isinstance(old, PartialText) else [old]
    return any(isinstance(part, Reference) and replaced(part.logical_id) for part in parts)


def _lists_differ(old: list[Any], new: list[Any], replaced: Replaced) -> bool | None:
    """Whether lists hold other values; their order says nothing."""
    remaining = list(new)
    unmatched = []
    for item in old:
        same = next((other for other in remaining if differ(item, other, replaced) is False), None)
        if same is None:
            unmatched.append(item)
        else:
            remaining.remove(same)
    if len(old) != len(new):
        return True
    if not unmatched:
        return False
    known = [differ(item, other, replaced) for item in unmatched for other in remaining]
    return None if None in known else True


def _value(resource: Resource | None, path: str) -> Any:
    value: Any = None if resource is None else resource.properties.value
    for key in path.split("."):
        if isinstance(value, Token):
            return _MemberOf(value)
        value = value.get(key) if isinstance(value, dict) else None
    return value
