"""Reads a state machine's definition, with tokens inside of its strings and expressions of both query languages."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cdk_distributed_training.checks.template.errors import UnreadableFileError
from cdk_distributed_training.checks.template.values import PartialText, Token, Unknown, join, text_of
from cdk_distributed_training.checks.template.view import Path, View

_MARK = "\ue000{}\ue001"  # private use characters: they stand for tokens while the text is read as JSON
_MARKED = re.compile("\ue000(\\d+)\ue001")
_QUOTE = re.compile(r'(?<!\\)(?:\\\\)*"')  # that is not escaped
_SUBSTITUTION = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True)
class State:
    """One state.

    Attributes:
        name: Its name.
        body: Its members as written.
        path: Where it is in the definition.
    """

    name: str
    body: Mapping[str, Any]
    path: Path

    @functools.cached_property
    def view(self) -> View:
        """Its members; expressions of the query language are tokens."""
        return View(without_expressions(self.body))

    @functools.cached_property
    def arguments(self) -> View:
        """What a task is called with; expressions of the query language are tokens."""
        return View(without_expressions(self.body.get(self.arguments_key)))

    @property
    def arguments_key(self) -> str:
        """The member that holds them: JSONPath and JSONata have each their own."""
        return "Arguments" if "Arguments" in self.body else "Parameters"

    @property
    def kind(self) -> str:
        """Its type, such as `Task`."""
        return str(self.body.get("Type"))

    @property
    def resource(self) -> str:
        """What a task calls, tokens in their places."""
        resource = self.body.get("Resource")
        return str(resource) if isinstance(resource, (str, PartialText)) else ""


def read_definition(text: str | PartialText) -> Any:
    """The definition that a text holds, tokens kept in their places.

    Raises:
        UnreadableFileError: The text is not JSON.
    """
    parts = text.parts if isinstance(text, PartialText) else [text]
    tokens: list[Token] = []
    marked: list[str] = []
    inside_string = False
    for part in parts:
        if isinstance(part, str):
            marked.append(part)
            inside_string ^= len(_QUOTE.findall(part)) % 2 == 1
        else:
            mark = _MARK.format(len(tokens))
            marked.append(mark if inside_string else f'"{mark}"')
            tokens.append(part)
    try:
        return _restore(json.loads("".join(marked)), tokens)
    except json.JSONDecodeError as error:
        raise UnreadableFileError(f"the definition is not JSON: line {error.lineno}: {error.msg}") from error


def substitute(node: Any, substitutions: Mapping[str, Any]) -> Any:
    """A definition with `DefinitionSubstitutions` in place; names without a value stay tokens."""
    if isinstance(node, dict):
        return {key: substitute(value, substitutions) for key, value in node.items()}
    if isinstance(node, list):
        return [substitute(item, substitutions) for item in node]
    if isinstance(node, str) and "${" in node:
        pieces = _SUBSTITUTION.split(node)  # text and names in turn
        return join([substitutions.get(p, Unknown(f"${{{p}}}")) if i % 2 else p for i, p in enumerate(pieces)])
    return node


def without_expressions(node: Any) -> Any:
    """A definition's part with every expression, of JSONPath or JSONata, as a token."""
    if isinstance(node, dict):
        return {
            (key[:-2] if _is_path_key(key) else key): (
                Unknown(text_of(value)) if _is_path_key(key) else without_expressions(value)
            )
            for key, value in node.items()
        }
    if isinstance(node, list):
        return [without_expressions(item) for item in node]
    if isinstance(node, str) and node.startswith("{%") and node.endswith("%}"):
        return Unknown(node)
    return node


def states(definition: Any, path: Path = ()) -> Iterator[State]:
    """Every state, also those of branches and of iterations."""
    rows = definition.get("States") if isinstance(definition, dict) else None
    for name, body in rows.items() if isinstance(rows, dict) else ():
        if not isinstance(body, dict):
            continue
        place = (*path, "States", name)
        yield State(name, body, place)
        for index, branch in enumerate(body.get("Branches") or () if isinstance(body.get("Branches"), list) else ()):
            yield from states(branch, (*place, "Branches", index))
        for key in ("Iterator", "ItemProcessor"):
            yield from states(body.get(key), (*place, key))


def is_literal(node: Any, keys: Collection[str]) -> bool:
    """Whether a definition has no token as a state or at one of these keys."""
    if isinstance(node, list):
        return all(is_literal(item, keys) for item in node)
    if not isinstance(node, dict):
        return True
    states_ = node.get("States") if "StartAt" in node else None
    found = [*(node.get(key) for key in keys), *(states_.values() if isinstance(states_, dict) else ())]
    if any(isinstance(item, Token) and not isinstance(item, PartialText) for item in found):
        return False
    return all(is_literal(item, keys) for item in node.values())


def _is_path_key(key: Any) -> bool:
    return isinstance(key, str) and key.endswith(".$")


def _restore(node: Any, tokens: list[Token]) -> Any:
    if isinstance(node, dict):
        return {_restore_key(key, tokens): _restore(value, tokens) for key, value in node.items()}
    if isinstance(node, list):
        return [_restore(item, tokens) for item in node]
    if isinstance(node, str) and "\ue000" in node:
        pieces = _MARKED.split(node)
        return join([tokens[int(piece)] if index % 2 else piece for index, piece in enumerate(pieces)])
    return node


def _restore_key(key: str, tokens: list[Token]) -> str:
    return _MARKED.sub(lambda match: f"${{{tokens[int(match.group(1))]}}}", key)
