"""The rules over keywords, whichever class they are given to (DT900, DT901)."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from cdk_distributed_training.checks.findings import Finding


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
