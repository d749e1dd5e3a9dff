"""What a run of the checks found in all its documents, apart from how it is shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from cdk_distributed_training.checks.findings import Severity
from cdk_distributed_training.checks.ignore import Ignored, split
from cdk_distributed_training.checks.report import Judgement, NotJudged, Report


@dataclass(frozen=True)
class Outcome:
    """The findings of several documents.

    Attributes:
        judgements: Findings that count.
        ignored: Findings that an entry of the ignore file covers, with it.
        unused: Entries that covered nothing.
        not_judged: What is settled only at deployment.
        documents: How many documents were judged.
    """

    judgements: Sequence[Judgement]
    ignored: Sequence[tuple[Judgement, Ignored]]
    unused: Sequence[Ignored]
    not_judged: Sequence[NotJudged]
    documents: int

    def counts(self) -> dict[Severity, int]:
        """How many findings there are of each severity."""
        found = Counter(judgement.finding.severity for judgement in self.judgements)
        return {severity: found[severity] for severity in Severity}


def outcome(reports: Sequence[Report], ignored: Sequence[Ignored]) -> Outcome:
    """Put the reports of several documents together."""
    remaining, covered = split([judgement for report in reports for judgement in report.judgements], ignored)
    used = [entry for _, entry in covered]
    return Outcome(
        judgements=remaining,
        ignored=covered,
        unused=[entry for entry in ignored if entry not in used],
        not_judged=[item for report in reports for item in report.not_judged],
        documents=len(reports),
    )


def place(judgement: Judgement) -> str:
    """File, line and property of a finding, as editors follow them."""
    line, column = judgement.position
    return f"{judgement.document.source.name}:{line}:{column}"
