"""The shape of a rule: one small pure function, and what a person wants to know about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from cdk_distributed_training.checks.examples import Example
from cdk_distributed_training.checks.findings import Finding, Severity

if TYPE_CHECKING:
    from cdk_distributed_training.checks.scene import Subject

Check = Callable[..., Iterable[Finding]]
CheckT = TypeVar("CheckT", bound=Callable[..., Any])

_ATTRIBUTE = "__rules__"


class Rule(NamedTuple):
    """One rule.

    Attributes:
        id: Such as `DT203`; public API, never reused.
        severity: How sure its findings are.
        title: What is wrong when it finds something, as a short statement.
        why: What happens if nobody mends it.
        source: Address of the page that states the facts; empty where they follow from the files themselves.
        since: Month in which the facts were last read, as `2026-11`.
        subject: The kind of thing that it looks at; None for a rule over values given to a construct.
        check: The function: takes a subject, or the values as keywords, and gives findings.
        bad: An example in which it finds something.
        good: The nearest example in which it finds nothing; None where a construct asks only when it has found.
    """

    id: str
    severity: Severity
    title: str
    why: str
    source: str
    since: str
    subject: type[Subject] | None
    check: Check
    bad: Example
    good: Example | None

    def complete(self, finding: Finding) -> Finding:
        """A finding with the id, severity and source that its function left out."""
        if finding.source:
            return finding
        return replace(finding, rule=self.id, severity=self.severity, source=self.source)


def rule(
    rule_id: str,
    *,
    title: str,
    why: str,
    bad: Example,
    good: Example | None = None,
    on: type[Any] | None = None,
    severity: Severity = Severity.ERROR,
    source: str = "",
    since: str = "2026-11",
) -> Callable[[CheckT], CheckT]:
    """Describe a rule at its function, which stays as it is.

    A function with several rules yields findings that name theirs; with one rule it may leave id, severity and source
    to it (see `problem`). Works as a decorator, and on functions of other modules.
    """

    def describe(check: CheckT) -> CheckT:
        described = Rule(
            id=rule_id,
            severity=severity,
            title=title,
            why=why,
            source=source,
            since=since,
            subject=on,
            check=check,
            bad=bad,
            good=good,
        )
        setattr(check, _ATTRIBUTE, (described, *rules_of(check)))
        return check

    return describe


def rules_of(function: Any) -> tuple[Rule, ...]:
    """The rules that are described at a function."""
    return getattr(function, _ATTRIBUTE, ())


def problem(*path: str | int, got: str, allowed: str, fix: str, rule_id: str = "") -> Finding:
    """What a rule over documents found; the rule adds its id, severity and source.

    Args:
        path: Keys of the property from the subject's root. If its value were not known, there would be no finding.
        got: The value that was found, as text.
        allowed: What would have been right.
        fix: What to do, as an imperative clause.
        rule_id: The rule, where the function has several.
    """
    return Finding(rule=rule_id, prop=dotted(path), got=got, allowed=allowed, fix=fix, path=path)


def at(findings: Iterable[Finding], *path: str | int, fix: str | None = None) -> Iterator[Finding]:
    """The findings of a rule over values, placed at a property of a document.

    Args:
        findings: What the rule found.
        path: Keys of the property from the subject's root.
        fix: What to do in a document, where the rule speaks of a construct's properties.
    """
    for finding in findings:
        yield replace(finding, prop=dotted(path), path=path, fix=finding.fix if fix is None else fix)


def dotted(path: Iterable[str | int]) -> str:
    """A path as people write it: `InputDataConfig[0].ChannelName`."""
    text = ""
    for key in path:
        if key == "..":
            continue
        if isinstance(key, int):
            text += f"[{key}]"
        else:
            text += f".{key}" if text else key
    return text
