"""What was found in documents, with the places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.checks.template.document import Document
from cdk_distributed_training.checks.template.view import Path


@dataclass(frozen=True)
class Judgement:
    """A finding and where it is.

    Attributes:
        finding: What was found; its path starts at the document's root.
        document: The document.
        choices: The uses of the template under which it holds, such as `Efa is true`; empty for its defaults.
    """

    finding: Finding
    document: Document
    choices: tuple[str, ...] = ()

    @property
    def choice(self) -> str:
        """The uses in words, empty for the defaults."""
        more = f", or {len(self.choices) - 3} others" if len(self.choices) > 3 else ""
        return f"if {' or '.join(self.choices[:3])}{more}" if self.choices else ""

    @property
    def logical_id(self) -> str:
        """The resource, empty outside of templates."""
        path = self.finding.path
        return str(path[1]) if len(path) > 1 and path[0] == "Resources" else ""

    @property
    def construct_path(self) -> str:
        """The construct that made the resource; empty outside of CDK apps."""
        path = self.finding.path
        if path[:1] == ("Metadata",) and path[1] in self.document.requests:
            return str(path[1])
        return self.document.construct_paths.get(self.logical_id, "")

    @property
    def position(self) -> tuple[int, int]:
        """Line and column, from 1, of the deepest part of the place that the file has."""
        return self.document.source.locate(self.finding.path)

    @property
    def message(self) -> str:
        """What was found, without the place."""
        choice = f" ({self.choice})" if self.choice else ""
        return f"got {self.finding.got}{choice}; allowed: {self.finding.allowed}"


@dataclass(frozen=True)
class NotJudged:
    """A rule that asked for a value which is settled only at deployment.

    Attributes:
        rule: The rule's id.
        path: The value's place in the document.
    """

    rule: str
    path: Path


@dataclass(frozen=True)
class Report:
    """The outcome for one document.

    Attributes:
        document: The document.
        judgements: What was found, errors first.
        not_judged: What could not be judged.
    """

    document: Document
    judgements: Sequence[Judgement] = field(default_factory=tuple)
    not_judged: Sequence[NotJudged] = field(default_factory=tuple)

    def count(self, severity: Severity) -> int:
        """How many findings there are of a severity."""
        return Counter(judgement.finding.severity for judgement in self.judgements)[severity]
