"""The choices under which a template is judged: its defaults, and each other use that the file itself names.

A file names a use by a condition or by an allowed value of a parameter. Each is tried alone, with all else at its
default; what a condition speaks of and does not settle is unknown then. Two `Fn::If` on one condition are thereby
judged together, and never as a cross product.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from cdk_distributed_training.checks.template import parameters as template_parameters
from cdk_distributed_training.checks.template.resolve import Resolver

# more uses than this are not tried: such files exist only as generators' output
_MOST_WORLDS = 100

_NOTHING = ("", [""])  # as a text and as a list


@dataclass(frozen=True)
class World:
    """One choice.

    Attributes:
        parameters: Values of the parameters that the choice settles.
        conditions: Truth of the conditions that the choice settles.
        label: The choice in words, empty for the defaults.
        many_nodes: Whether a number of machines that is not known counts as several.
    """

    parameters: Mapping[str, Any] = field(default_factory=dict)
    conditions: Mapping[str, bool] = field(default_factory=dict)
    label: str = ""
    many_nodes: bool = False


def with_many_nodes(world: World) -> World:
    """The same choice, with several machines wherever an execution chooses their number."""
    return replace(world, label="there are several machines", many_nodes=True)


def default_world(template: Mapping[str, Any]) -> World:
    """Every parameter at its default."""
    return World(parameters=template_parameters.defaults(template))


def other_worlds(template: Mapping[str, Any], used: Collection[str]) -> Iterator[World]:
    """Every other use that the file names.

    Args:
        template: The template.
        used: Names of the parameters and conditions that decide about what is judged.
    """
    yield from islice(_all_other_worlds(template, used), _MOST_WORLDS)


def names_used(template: Mapping[str, Any], nodes: Collection[Any]) -> set[str]:
    """Names of the parameters and conditions that some nodes depend on, through conditions too."""
    conditions = template.get("Conditions")
    known = conditions if isinstance(conditions, dict) else {}
    found: set[str] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting.extend(node)
        elif isinstance(node, dict):
            for key, value in node.items():
                name = value[0] if key == "Fn::If" and isinstance(value, list) and value else value
                if key in ("Ref", "Condition", "Fn::If") and isinstance(name, str) and name not in found:
                    found.add(name)
                    if key != "Ref":
                        waiting.append(known.get(name))
            waiting.extend(node.values())
    return found


def _all_other_worlds(template: Mapping[str, Any], used: Collection[str]) -> Iterator[World]:
    defaults = template_parameters.defaults(template)
    at_defaults = Resolver(template, parameters=defaults, conditions={})
    rows = template.get("Conditions")
    conditions = rows if isinstance(rows, dict) else {}
    for name in conditions:
        if name not in used:
            continue
        spoken_of = names_used(template, [{"Condition": name}])
        # an empty default means that nothing is given: who makes the other choice may well give something
        others = {key: value for key, value in defaults.items() if key not in spoken_of and value not in _NOTHING}
        for truth in (True, False):
            assumption = _Assumption(conditions)
            if at_defaults.truth(name) is not truth and assumption.condition(name, truth=truth):
                settled = {**_apart_from(spoken_of, template, at_defaults), **assumption.conditions}
                yield World({**others, **assumption.parameters}, settled, f"{name} is {str(truth).lower()}")
    for name, value in template_parameters.alternatives(template):
        if name in used:
            yield World({**defaults, name: value}, {}, f"{name} is {value!r}")


def _apart_from(spoken_of: Collection[str], template: Mapping[str, Any], defaults: Resolver) -> dict[str, bool]:
    """The conditions that depend on none of some names, as they are by default."""
    conditions = template.get("Conditions")
    apart = {}
    for name in conditions if isinstance(conditions, dict) else ():
        truth = defaults.truth(name)
        if truth is not None and not names_used(template, [{"Condition": name}]) & set(spoken_of):
            apart[name] = truth
    return apart


class _Assumption:
    """What follows if a condition holds, or does not. Each method returns False where that contradicts itself."""

    def __init__(self, conditions: Mapping[str, Any]) -> None:
        self.parameters: dict[str, Any] = {}
        self.conditions: dict[str, bool] = {}
        self._expressions = conditions

    def condition(self, name: str, *, truth: bool) -> bool:
        """Assume a named condition."""
        if name in self.conditions:
            return self.conditions[name] == truth
        self.conditions[name] = truth
        return self._expression(self._expressions.get(name), truth=truth)

    def _expression(self, node: Any, *, truth: bool) -> bool:
        function, argument = next(iter(node.items())) if isinstance(node, dict) and node else ("", None)
        if function == "Condition" and isinstance(argument, str):
            return self.condition(argument, truth=truth)
        items = argument if isinstance(argument, list) else []
        if function == "Fn::Equals":
            return self._equal(items) if truth else True
        # the truth of And if true, of Or if false and of Not says the truth of each part
        if function == "Fn::Not" or (function, truth) in (("Fn::And", True), ("Fn::Or", False)):
            inner = truth is not (function == "Fn::Not")
            return all(self._expression(item, truth=inner) for item in items)
        return True

    def _equal(self, sides: list[Any]) -> bool:
        for side, other in (sides, sides[::-1]) if len(sides) == 2 else ():
            if isinstance(side, dict) and list(side) == ["Ref"] and not isinstance(other, (dict, list)):
                return bool(self.parameters.setdefault(side["Ref"], other) == other)
        return True
