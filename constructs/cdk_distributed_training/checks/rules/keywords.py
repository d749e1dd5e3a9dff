"""The rules over keywords, whichever class they are given to (DT900 to DT902)."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from cdk_distributed_training.checks.findings import Finding

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
