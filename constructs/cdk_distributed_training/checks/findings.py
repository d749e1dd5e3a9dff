"""What a rule says of bad input, and the one error that carries all of it."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

# how CDK hides tokens in text and in numbers: https://docs.aws.amazon.com/cdk/v2/guide/tokens.html
_TOKEN = re.compile(r"'?[$#]\{Token\[[^\]]*\]\}'?|-1\.8881545897\d*e\+289")


class Severity(enum.Enum):
    """How sure a finding is: an error is certain to fail as given, a warning may, information is useful."""

    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that is wrong, in the words of the person who can mend it.

    Attributes:
        rule: The rule's id, such as `DT201`; public API, never reused.
        prop: The property as the user spelled it, such as `storage_capacity`.
        got: The value that was given, as text.
        allowed: What would have been right.
        fix: What to do, as an imperative clause.
        severity: `ERROR` unless the rule says otherwise.
        source: Address of the page that states the rule; empty if none does.
        path: Keys of the property from the root of what was judged; empty for what was given to a construct.
    """

    rule: str
    prop: str
    got: str
    allowed: str
    fix: str
    severity: Severity = Severity.ERROR
    source: str = ""
    path: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        """The finding as one line."""
        source = f", {self.source}" if self.source else ""
        line = f"{self.prop}: got {self.got}; allowed: {self.allowed}; {self.fix} ({self.rule}{source})"
        return _TOKEN.sub("(only known when deployed)", line)


class ConfigurationError(ValueError):
    """Raised at synthesis for literal values that cannot work; lists every finding, not only the first.

    Attributes:
        findings: The findings, in the order in which the rules ran.
        where: The construct path, empty outside of a construct tree.
    """

    def __init__(self, findings: Iterable[Finding], *, where: str = "") -> None:
        """Make the error from one or more findings."""
        self.findings = tuple(findings)
        self.where = where
        place = f" at {where}" if where else ""
        lines = [f"{len(self.findings)} configuration error{'s' if len(self.findings) != 1 else ''}{place}:"]
        super().__init__("\n".join([*lines, *(f"  - {finding}" for finding in self.findings)]))


def raise_errors(findings: Iterable[Finding], *, where: str | Callable[[], str] = "") -> None:
    """Raise one `ConfigurationError` with all findings of severity error; return if there are none.

    Args:
        findings: Findings of any severity.
        where: The construct path, or what tells it once there is an error: to ask for it crosses into Node.js.
    """
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    if errors:
        raise ConfigurationError(errors, where=where if isinstance(where, str) else where())
