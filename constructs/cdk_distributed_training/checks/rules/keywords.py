"""The rules over keywords, whichever class they are given to (DT900 to DT904)."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence

from cdk_distributed_training.checks.findings import Finding

_TOKENS = "https://docs.aws.amazon.com/cdk/v2/guide/tokens.html"
_DURATIONS = "https://docs.aws.amazon.com/cdk/api/v2/docs/aws-cdk-lib.Duration.html"


def unknown_keyword(name: str, *, called: str, offered: Sequence[str], owner: str | None = None) -> Finding:
    """DT900: a class or method does not have the keyword.

    Args:
        name: The keyword.
        called: The class or method.
        offered: The keywords that it has.
        owner: Class of a value that was given and has the keyword.
    """
    near = difflib.get_close_matches(name, offered, 1)
    if owner is not None:
        fix = f"give it to {owner}"
    else:
        fix = f"write {near[0]}" if near else "look it up in the class's documentation"
    return Finding(
        rule="DT900", prop=name, got=f"a keyword that {called} does not have", allowed=", ".join(offered), fix=fix
    )


def wrong_type(name: str, *, value: object, declared: str, fix: str = "give a value of that type") -> Finding:
    """DT901: a value of another type than a class or method declares.

    Args:
        name: The keyword.
        value: What was given.
        declared: The types that the keyword takes.
        fix: What to do.
    """
    got = f"{value!r:.200}, of type {type(value).__name__}"
    return Finding(rule="DT901", prop=name, got=got, allowed=declared, fix=fix)


def wrong_word(name: str, *, value: object, words: Sequence[str], wrong: Sequence[str]) -> Finding:
    """DT901 for a word that is none of a fixed choice.

    Args:
        name: The keyword.
        value: What was given, which may be a list.
        words: The choice.
        wrong: Which of the given words are not in it.
    """
    by_form = {word.lower(): word for word in words}
    near = [by_form[form] for word in wrong for form in difflib.get_close_matches(word.lower(), by_form, 1)]
    return Finding(
        rule="DT901",
        prop=name,
        got=f"{value!r:.200}",
        allowed=", ".join(map(repr, words)),
        fix=f"write {' and '.join(map(repr, near))}" if near else "take one of these",
    )


def unfitting_unit(name: str, *, given: str, unit: str, wanted: str | None) -> Finding:
    """DT902: a duration or size that cannot be converted into the unit that the service takes.

    Args:
        name: The property.
        given: The value or its maker, as CDK names it.
        unit: The unit that the service takes.
        wanted: The maker of that unit, for a value that is only known when deployed; None for one that is known.
    """
    if wanted is None:
        allowed, fix = f"a whole number of {unit}", "round it"
    else:
        allowed = f"cdk.{wanted}(...): what is only known when deployed cannot be converted"
        given, fix = f"cdk.{given}(...) of a token", f"let the token be in {unit}"
    return Finding(rule="DT902", prop=name, got=given, allowed=allowed, fix=fix, source=_DURATIONS)


def unsettled_list(prop: str, values: Iterable[object]) -> Iterator[Finding]:
    """DT903: a list that is only known when deployed, where its elements are needed one by one.

    Args:
        prop: The property.
        values: Its elements; CDK hides such a list in one of them.
    """
    if any(isinstance(value, str) and "#{Token[" in value for value in values):
        yield Finding(
            rule="DT903",
            prop=prop,
            got="a list that is only known when deployed",
            allowed="a list of known length, whose elements may be tokens",
            fix="write its elements as cdk.Fn.select(0, ...), cdk.Fn.select(1, ...)",
            source=_TOKENS,
        )


def unsettled_name(prop: str, names: Iterable[object]) -> Iterator[Finding]:
    """DT904: a name that is only known when deployed; CloudFormation has no words for one.

    Args:
        prop: The property.
        names: The names in it.
    """
    if any(isinstance(name, str) and "${Token[" in name for name in names):
        yield Finding(
            rule="DT904",
            prop=prop,
            got="a name that is only known when deployed",
            allowed="names that are known; the values may be tokens",
            fix="write the name out",
            source=_TOKENS,
        )
