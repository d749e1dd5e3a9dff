"""Parameters of a template: their defaults, and the values that the file allows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def defaults(template: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that have a default, with its value as `Ref` gives it."""
    return {name: _typed(row, row["Default"]) for name, row in _rows(template) if _has_literal_default(row)}


def alternatives(template: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every allowed value that is not the default, with its parameter."""
    for name, row in _rows(template):
        allowed = row.get("AllowedValues")
        for value in allowed if isinstance(allowed, list) else ():
            if str(value) != str(row.get("Default")):
                yield name, _typed(row, value)


def _rows(template: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    parameters = template.get("Parameters")
    if isinstance(parameters, dict):
        yield from ((name, row) for name, row in parameters.items() if isinstance(row, dict))


def _has_literal_default(row: Mapping[str, Any]) -> bool:
    # the default of an SSM parameter type is the parameter's name, not its value
    return "Default" in row and not str(row.get("Type", "")).startswith("AWS::SSM::Parameter::Value")


def _typed(row: Mapping[str, Any], value: Any) -> Any:
    kind = str(row.get("Type", "String"))
    if kind == "CommaDelimitedList" or kind.startswith("List<"):
        return [item.strip() for item in str(value).split(",")]
    return value
