"""Values that are settled only at deployment, in place of what is not literal in a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final


class Token:
    """Base of all values that a file does not settle. Two equal tokens will be the same value."""


@dataclass(frozen=True)
class Unknown(Token):
    """A value of which only the expression is known, such as a parameter without default.

    Attributes:
        expression: The expression in one canonical spelling.
    """

    expression: str


@dataclass(frozen=True)
class Reference(Token):
    """An attribute of another resource of the same template.

    Attributes:
        logical_id: The resource.
        attribute: The attribute, such as `GroupId`; empty for `Ref`.
    """

    logical_id: str
    attribute: str = ""


@dataclass(frozen=True)
class ZoneByIndex(Token):
    """The n-th availability zone that a region offers to an account: `Fn::Select` of `Fn::GetAZs`.

    Attributes:
        index: Which one, from 0.
        region: The region, empty for the stack's own if that is not known.
    """

    index: int
    region: str = ""


@dataclass(frozen=True)
class PartialText(Token):
    """Text with tokens inside, such as `arn:aws:s3:::` and a bucket's name.

    Attributes:
        parts: Literal text and tokens in turn.
    """

    parts: Sequence[str | Token]

    @property
    def literal_start(self) -> str:
        """The text before the first token."""
        return self.parts[0] if self.parts and isinstance(self.parts[0], str) else ""

    @property
    def literal_end(self) -> str:
        """The text after the last token."""
        return self.parts[-1] if self.parts and isinstance(self.parts[-1], str) else ""

    def __str__(self) -> str:
        """The text, with each token in `${}`."""
        return "".join(part if isinstance(part, str) else f"${{{describe(part)}}}" for part in self.parts)


def is_parameter(value: Any) -> bool:
    """Whether a value is a parameter as it stands: it is not known, but surely no resource of its own template."""
    return isinstance(value, Unknown) and value.expression.startswith('{"Ref": ')


def is_undecided(value: Any) -> bool:
    """Whether a value may turn out to be anything, a resource of its own template included."""
    return isinstance(value, Token) and not isinstance(value, Reference) and not is_parameter(value)


def differ(one: Any, other: Any) -> bool | None:
    """Whether two values are certainly different; None if that is not known."""
    if one == other:
        return False
    if isinstance(one, Reference) and isinstance(other, Reference):
        return True
    return None if isinstance(one, Token) or isinstance(other, Token) else True


class _Absent:
    """`AWS::NoValue`: the property counts as left out."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()


def join(parts: Sequence[Any], delimiter: str = "") -> str | Token:
    """Text of several parts: plain text if all are literal."""
    pieces: list[str | Token] = []
    for index, part in enumerate(parts):
        if index and delimiter:
            pieces.append(delimiter)
        if isinstance(part, PartialText):
            pieces.extend(part.parts)
        elif isinstance(part, Token):
            pieces.append(part)
        else:
            pieces.append(text_of(part))
    merged: list[str | Token] = []
    for piece in pieces:
        if isinstance(piece, str) and merged and isinstance(merged[-1], str):
            merged[-1] += piece
        elif piece != "":
            merged.append(piece)
    if all(isinstance(piece, str) for piece in merged):
        return "".join(str(piece) for piece in merged)
    return merged[0] if len(merged) == 1 else PartialText(tuple(merged))


def text_of(value: Any) -> str:
    """A literal as CloudFormation compares and sends it: `true` for a boolean, digits for a number."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def describe(token: Token) -> str:
    """A token in a few characters, for messages."""
    if isinstance(token, Reference):
        return f"{token.logical_id}.{token.attribute}" if token.attribute else token.logical_id
    if isinstance(token, ZoneByIndex):
        return f"zone {token.index} of {token.region or 'the region'}"
    return token.expression if isinstance(token, Unknown) else str(token)
