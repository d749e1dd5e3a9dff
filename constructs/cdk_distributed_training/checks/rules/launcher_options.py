"""Rules about the launcher's own options (DT46x)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from cdk_distributed_training.checks.findings import Finding

_SOURCE = "https://docs.aws.amazon.com/sagemaker/latest/dg/your-algorithms-training-algo-running-container.html"


def choice(prop: str, value: object, allowed: Collection[str]) -> Iterator[Finding]:
    """DT460: a word that the launcher does not know."""
    if value not in allowed:
        yield Finding(
            rule="DT460",
            prop=f"launcher_options.{prop}",
            got=repr(value),
            allowed=", ".join(repr(word) for word in sorted(allowed)),
            fix="leave it out to let the launcher choose",
            source=_SOURCE,
        )


def seconds(prop: str, value: float, *, least: float) -> Iterator[Finding]:
    """DT461: a time that is too short to mean anything."""
    if value < least:
        yield Finding(
            rule="DT461",
            prop=f"launcher_options.{prop}",
            got=f"{value:g} s",
            allowed=f"at least {least:g} s",
            fix="give a longer time, or leave it out",
            source=_SOURCE,
        )


def machines_without_efa(types: Mapping[str, int | None]) -> Iterator[Finding]:
    """DT463: EFA is demanded of several machines, of which no type has it.

    Args:
        types: The types that the job may run on, each with its number of EFA interfaces; None where it is not known.
    """
    if types and all(interfaces == 0 for interfaces in types.values()):
        yield Finding(
            rule="DT463",
            prop="launcher_options.require_efa",
            got=f"True, on {', '.join(types)}",
            allowed="True on types with EFA",
            fix="leave it out, or take a type with EFA, such as 'ml.p5.48xlarge'",
            source=_SOURCE,
        )


def words(prop: str, value: object) -> Iterator[Finding]:
    """DT462: further arguments that are no list of words, such as one text with all of them."""
    if not isinstance(value, (list, tuple)) or not all(isinstance(word, str) and word for word in value):
        yield Finding(
            rule="DT462",
            prop=f"distribution.{prop}",
            got=repr(value),
            allowed="a list of words, such as ['--numa-binding=node']",
            fix="give each word as a text of its own",
            source="https://docs.pytorch.org/docs/stable/elastic/run.html",
        )
