"""Reads YAML as CloudFormation does: short forms become functions, dates and versions stay text."""

from __future__ import annotations

from typing import Any

import yaml  # type: ignore[import-untyped]

from cdk_distributed_training.checks.template.errors import UnreadableFileError
from cdk_distributed_training.checks.template.source import Source
from cdk_distributed_training.checks.template.view import Path

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml where PyYAML was built with it
_KEPT_AS_TEXT = ("tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:merge", "tag:yaml.org,2002:value")

# YAML 1.1 takes them for booleans; as names of conditions they are words, and View.flag knows them as values
_WORDS = ("yes", "no", "on", "off")


def parse(text: str, *, name: str) -> Source:
    """Read YAML text.

    Raises:
        UnreadableFileError: It is not YAML, or holds several documents.
    """
    loader = _Loader(text)
    try:
        root = loader.get_single_node()
        content = _Reader(loader).read(root)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise UnreadableFileError(f"{name}{place}: not YAML: {error.problem or error.context}") from error
    except yaml.YAMLError as error:
        raise UnreadableFileError(f"{name}: not YAML: {error}") from error
    except RecursionError as error:
        raise UnreadableFileError(f"{name}: nested too deeply") from error
    finally:
        loader.dispose()
    return Source(name, content, lambda path: _locate(root, path))


class _Reader:
    """Turns nodes into plain data."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader
        self._anchored: dict[int, Any] = {}

    def read(self, node: Any) -> Any:
        """The data of a node."""
        if node is None:
            return None
        tag = node.tag or ""
        if tag.startswith("!") and tag != "!":
            return self._function(tag[1:], node)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node)
        if isinstance(node, yaml.SequenceNode):
            return [self.read(item) for item in node.value]
        return self._scalar(node)

    def _mapping(self, node: yaml.MappingNode) -> dict[Any, Any]:
        if id(node) in self._anchored:
            raise yaml.MarkedYAMLError(problem="a mapping that contains itself", problem_mark=node.start_mark)
        self._anchored[id(node)] = True
        members: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                merged = self.read(value_node)
                for part in merged if isinstance(merged, list) else [merged]:
                    members = {**part, **members} if isinstance(part, dict) else members
                continue
            if not isinstance(key_node, yaml.ScalarNode):
                raise yaml.MarkedYAMLError(problem="a key that is no text", problem_mark=key_node.start_mark)
            members[key_node.value] = self.read(value_node)
        del self._anchored[id(node)]
        return members

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        if node.tag == "tag:yaml.org,2002:str" or node.tag in _KEPT_AS_TEXT or node.value.lower() in _WORDS:
            return node.value
        try:
            return self._loader.construct_object(node)
        except ValueError:
            return node.value

    def _function(self, name: str, node: Any) -> Any:
        if isinstance(node, yaml.ScalarNode):
            argument: Any = node.value
        elif isinstance(node, yaml.SequenceNode):
            argument = [self.read(item) for item in node.value]
        else:
            argument = self._mapping(node)
        if name in ("Ref", "Condition"):
            return {name: argument}
        if name == "GetAtt" and isinstance(argument, str):
            argument = argument.split(".", 1)
        return {f"Fn::{name}": argument}


def _locate(root: Any, path: Path) -> tuple[int, int]:
    node = root
    for key in path:
        inside = _enter(node, key)
        if inside is None:
            break
        node = inside
    mark = node.start_mark if node is not None else None
    return (mark.line + 1, mark.column + 1) if mark else (1, 1)


def _enter(node: Any, key: str | int) -> Any:
    if isinstance(node, yaml.MappingNode):
        return next((value for name, value in node.value if name.value == str(key)), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
        return node.value[key]
    return None
