"""A part of the request as a value: each attribute says how the API spells it, and the part renders itself.

The same spelling leads back: what the service's rules say of a member is told to the user by the attribute's name.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

MemberPath = tuple[str | int, ...]


def spelled(name: str, convert: Callable[[Any], Any] | None = None, *, inside: str | None = None) -> Mapping[str, Any]:
    """Metadata for a dataclass's field: the API's name of the member, and how its value is written.

    Args:
        name: Such as `MaximumRetryAttempts`.
        convert: From the attribute's value to the member's; as `plain` does unless given.
        inside: The only member of a structure called `name`, where the value stands for all of the structure.
    """
    return {"member": name, "convert": convert or plain, "inside": inside}


def plain(value: Any) -> Any:
    """Parts as they render, sequences as lists, mappings with text for values, anything else as it is."""
    if isinstance(value, RequestPart):
        return value.render()
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(item) for item in value]
    return value


def seconds(duration: Any) -> Any:
    """A `cdk.Duration` in seconds, tokens unharmed."""
    return duration.to_seconds(integral=False)


def milliseconds(duration: Any) -> Any:
    """A `cdk.Duration` in milliseconds, tokens unharmed."""
    return duration.to_milliseconds()


def gibibytes(size: Any) -> Any:
    """A `cdk.Size` in GiB, tokens unharmed; the API's name for it ends in GB."""
    return size.to_gibibytes()


def key_arn(key: Any) -> str:
    """The ARN of an `IKey`, or the ARN, id or alias given as text."""
    return key if isinstance(key, str) else str(key.key_arn)


class RequestPart:
    """Base of the dataclasses that are members of the request."""

    def render(self) -> dict[str, Any]:
        """The structure as the API spells it; what is not asked for is absent, never null."""
        rendered: dict[str, Any] = {}
        for attribute, value in self._given():
            spelling = attribute.metadata
            written = spelling["convert"](value)
            rendered[spelling["member"]] = {spelling["inside"]: written} if spelling["inside"] else written
        return rendered

    def attribute_path(self, path: MemberPath) -> str:
        """The user's name for a member of the rendered structure, such as `retry.maximum_retry_attempts`.

        Args:
            path: Keys from this structure down.
        """
        for attribute in dataclasses.fields(self):  # type: ignore[arg-type]  # as below; a finding may be about a gap
            if path and attribute.metadata.get("member") == path[0]:
                value = getattr(self, attribute.name)
                return attribute.name + _below(value, path[2 if attribute.metadata["inside"] else 1 :])
        return _subscripts(path).removeprefix(".")

    def _given(self) -> Iterator[tuple[dataclasses.Field[Any], Any]]:
        """The attributes that are members, with their values."""
        for attribute in dataclasses.fields(self):  # type: ignore[arg-type]  # each subclass is a dataclass
            value = getattr(self, attribute.name)
            if "member" in attribute.metadata and not _is_absent(value):
                yield attribute, value


def _is_absent(value: Any) -> bool:
    # zero, false and empty text are values
    return value is None or (isinstance(value, (Mapping, Sequence)) and not isinstance(value, str) and not value)


def _below(value: Any, path: MemberPath) -> str:
    if path and isinstance(value, RequestPart):
        return f".{value.attribute_path(path)}"
    if path and isinstance(path[0], int) and isinstance(value, Sequence) and path[0] < len(value):
        return f"[{path[0]}]" + _below(value[path[0]], path[1:])
    if isinstance(value, Mapping):
        return "".join(f"[{key!r}]" for key in path)
    return _subscripts(path)


def _subscripts(path: MemberPath) -> str:
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)
