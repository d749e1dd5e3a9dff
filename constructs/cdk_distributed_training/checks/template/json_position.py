"""Finds the lines of members in JSON text, without keeping positions while reading."""

from __future__ import annotations

import bisect
import json
from functools import cached_property
from json.decoder import WHITESPACE  # type: ignore[attr-defined]
from typing import cast

from cdk_distributed_training.checks.template.view import Path

_DECODER = json.JSONDecoder()


class JsonPositions:
    """The places of a text's members; an object or list is gone through once, when something in it is first asked for.

    Args:
        text: Valid JSON.
    """

    def __init__(self, text: str) -> None:
        """Look at nothing yet: most files have no findings."""
        self._text = text
        self._members: dict[int, dict[str | int, int]] = {}

    def locate(self, path: Path) -> tuple[int, int]:
        """Line and column, from 1, of the deepest member of the path that the text has.

        Args:
            path: Keys and indexes from the root.
        """
        position = self._skip(0)
        for key in path:
            inside = self._members_at(position).get(key)
            if inside is None:
                break
            position = inside
        line = bisect.bisect_right(self._lines, position)
        return line, position - self._lines[line - 1] + 1

    @cached_property
    def _lines(self) -> list[int]:
        starts = [0]
        for line in self._text.split("\n")[:-1]:
            starts.append(starts[-1] + len(line) + 1)
        return starts

    def _skip(self, position: int) -> int:
        return cast("int", WHITESPACE.match(self._text, position).end())

    def _members_at(self, position: int) -> dict[str | int, int]:
        """Where the values of an object or list begin, by key or index; none of anything else."""
        if position not in self._members:
            self._members[position] = self._scan(position)
        return self._members[position]

    def _scan(self, position: int) -> dict[str | int, int]:
        text, members = self._text, dict[str | int, int]()
        opening, closing = text[position], {"{": "}", "[": "]"}.get(text[position])
        position = self._skip(position + 1)
        while closing is not None and text[position] != closing:
            key: str | int = len(members)
            if opening == "{":
                key, position = _DECODER.raw_decode(text, position)
                position = self._skip(self._skip(position) + 1)  # over the colon
            members.setdefault(key, position)
            _, position = _DECODER.raw_decode(text, position)
            position = self._skip(position)
            if text[position] == ",":
                position = self._skip(position + 1)
        return members
