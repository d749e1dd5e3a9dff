"""Finds the line of a member in JSON text, without keeping positions while reading."""

from __future__ import annotations

import json
from json.decoder import WHITESPACE  # type: ignore[attr-defined]
from typing import cast

from cdk_distributed_training.checks.template.view import Path

_DECODER = json.JSONDecoder()


def locate(text: str, path: Path) -> tuple[int, int]:
    """Line and column, from 1, of the deepest member of the path that the text has.

    Args:
        text: Valid JSON.
        path: Keys and indexes from the root.
    """
    position = _skip(text, 0)
    for key in path:
        inside = _enter(text, position, key)
        if inside is None:
            break
        position = inside
    return text.count("\n", 0, position) + 1, position - (text.rfind("\n", 0, position) + 1) + 1


def _skip(text: str, position: int) -> int:
    return cast("int", WHITESPACE.match(text, position).end())


def _enter(text: str, position: int, key: str | int) -> int | None:
    """Where the value of a key begins; None if the value at `position` has no such key."""
    opening, closing = text[position], {"{": "}", "[": "]"}.get(text[position])
    position = _skip(text, position + 1)
    index = 0
    while closing is not None and text[position] != closing:
        found: str | int = index
        if opening == "{":
            found, position = _DECODER.raw_decode(text, position)
            position = _skip(text, _skip(text, position) + 1)  # over the colon
        if found == key:
            return position
        _, position = _DECODER.raw_decode(text, position)
        position = _skip(text, position)
        if text[position] == ",":
            position = _skip(text, position + 1)
        index += 1
    return None
