"""Whether an engine has a place for what a request holds."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules import engines as rules


def inexpressible(
    request: Mapping[str, Any], *, engine: str, members: Mapping[str, Collection[str] | None], source: str
) -> Iterator[Finding]:
    """Findings for members of a request that an engine's API does not have.

    Args:
        request: The `CreateTrainingJob` request.
        engine: The engine in words, with an article.
        members: Members that the engine has a place for, each with the members of the structure where some of these
            are missing, `None` where all are there.
        source: Where the service says so.
    """
    found: dict[str, bool] = {}
    for name, value in request.items():
        found[name] = name in members
        known = members.get(name)
        if known is not None and isinstance(value, Mapping):
            found.update({f"{name}.{inner}": inner in known for inner in value})
    yield from rules.expressible(engine, found, source)
