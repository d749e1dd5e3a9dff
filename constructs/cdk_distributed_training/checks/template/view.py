"""Reads members of a resolved document, and says when one is settled only at deployment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cdk_distributed_training.checks.template.values import Token, Unknown, text_of

Path = tuple[str | int, ...]


class NotJudgedError(Exception):
    """A rule asks for a value that is known only at deployment, so the rule says nothing.

    Attributes:
        path: Where the value is, from the subject's root.
    """

    def __init__(self, path: Path) -> None:
        """Remember the place."""
        self.path = path
        super().__init__(".".join(map(str, path)))


@dataclass(frozen=True)
class View:
    """A mapping of a document and where it is.

    Every reader takes a path of keys, gives None for what is absent, and raises `NotJudgedError` for what is not
    literal; so a rule reads as if everything were known.

    Attributes:
        value: The mapping; anything else reads as empty, a token as not known.
        path: Its keys from the subject's root.
    """

    value: Any
    path: Path = ()

    def raw(self, *keys: str | int) -> Any:
        """The value as it is, tokens included; None if absent."""
        value = self.value
        for depth, key in enumerate(keys):
            if isinstance(value, Token):
                raise NotJudgedError(self.path + keys[:depth])
            if isinstance(value, dict):
                value = value.get(key)
            elif isinstance(value, list) and isinstance(key, int) and key < len(value):
                value = value[key]
            else:
                return None
        return value

    def known(self, *keys: str | int) -> Any:
        """The value, which must not be a token; what it holds may be."""
        value = self.raw(*keys)
        if isinstance(value, Token):
            raise NotJudgedError(self.path + keys)
        return value

    def has(self, *keys: str | int) -> bool:
        """Whether there is a value, be it a token."""
        return self.raw(*keys) is not None

    def given(self, *keys: str | int) -> bool:
        """Whether there certainly is a value, whatever it may be.

        Raises:
            NotJudgedError: A condition that the file does not settle decides whether there is one.
        """
        value = self.raw(*keys)
        if isinstance(value, Unknown) and "Fn::If" in value.expression:
            raise NotJudgedError(self.path + keys)
        return value is not None

    def text(self, *keys: str | int) -> str | None:
        """A text; numbers and booleans as CloudFormation writes them."""
        value = self.known(*keys)
        return None if value is None or isinstance(value, (dict, list)) else text_of(value)

    def number(self, *keys: str | int) -> float | None:
        """A number, also one in quotes; None if it is no number."""
        text = self.text(*keys)
        try:
            number = None if text is None else float(text)
        except ValueError:
            return None
        return int(number) if number is not None and number.is_integer() else number

    def flag(self, *keys: str | int) -> bool:
        """A boolean, also one in quotes, in capitals or in YAML 1.1's other words; False if absent."""
        return (self.text(*keys) or "").lower() in ("true", "yes", "on")

    def items(self, *keys: str | int) -> list[View]:
        """The items of a list; a single value counts as a list of one, as CloudFormation takes it."""
        value = self.known(*keys)
        if value is None:
            return []
        base = self.path + keys
        if not isinstance(value, list):
            return [View(value, base)]
        return [View(item, (*base, index)) for index, item in enumerate(value)]

    def entries(self, *keys: str | int) -> Iterator[tuple[str, View]]:
        """The entries of a mapping."""
        value = self.known(*keys)
        if isinstance(value, dict):
            for key, item in value.items():
                yield str(key), View(item, (*self.path, *keys, str(key)))

    def view(self, *keys: str | int) -> View:
        """A member as a view of its own, empty if absent."""
        return View(self.raw(*keys), self.path + keys)


def values(view: View, *keys: str | int) -> list[Any]:
    """The items of a list as they are, tokens included."""
    return [item.value for item in view.items(*keys)]
