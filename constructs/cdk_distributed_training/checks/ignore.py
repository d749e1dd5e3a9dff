"""The file that says which findings are known and meant: by rule, by resource, each with its reason.

    ignore:
      - rule: DT252
        resource: Scratch
        reason: copied from S3 for every run

`resource` is a logical id or a construct path; without it the rule is ignored everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cdk_distributed_training.checks.registry import all_rules
from cdk_distributed_training.checks.report import Judgement
from cdk_distributed_training.checks.template.errors import UnreadableFileError
from cdk_distributed_training.checks.template.loader import load

DEFAULT_NAME = "dtrain-ignore.yaml"
_MEMBERS = {"rule", "resource", "reason"}


@dataclass(frozen=True, kw_only=True)
class Ignored:
    """One entry.

    Attributes:
        rule: The rule's id.
        reason: Why its findings are meant.
        resource: Logical id or construct path; empty for all.
    """

    rule: str
    reason: str
    resource: str = ""

    def covers(self, judgement: Judgement) -> bool:
        """Whether it is about a finding."""
        places = ("", judgement.logical_id, judgement.construct_path)
        return judgement.finding.rule == self.rule and (not self.resource or self.resource in places)


def read_ignored(path: Path) -> Sequence[Ignored]:
    """The entries of a file.

    Raises:
        UnreadableFileError: It cannot be read, names an unknown rule, or gives no reason.
    """
    source = load(path)
    rows = source.content.get("ignore") if isinstance(source.content, dict) else None
    if not isinstance(rows, list):
        raise UnreadableFileError(f"{path}: expected a list named ignore")
    return [_entry(path, index, row, source.locate(("ignore", index))[0]) for index, row in enumerate(rows)]


def split(
    judgements: Iterable[Judgement], ignored: Sequence[Ignored]
) -> tuple[list[Judgement], list[tuple[Judgement, Ignored]]]:
    """The findings that remain, and those that are ignored with the entry that says so."""
    remaining: list[Judgement] = []
    covered: list[tuple[Judgement, Ignored]] = []
    for judgement in judgements:
        entry = next((entry for entry in ignored if entry.covers(judgement)), None)
        if entry is None:
            remaining.append(judgement)
        else:
            covered.append((judgement, entry))
    return remaining, covered


def _entry(path: Path, index: int, row: object, line: int) -> Ignored:
    place = f"{path}:{line}: entry {index + 1}"
    if not isinstance(row, dict):
        raise UnreadableFileError(f"{place}: expected rule, reason and, for one resource only, resource")
    unknown = [str(name) for name in row if name not in _MEMBERS]
    if unknown:
        raise UnreadableFileError(f"{place}: unknown {', '.join(unknown)}; known are {', '.join(sorted(_MEMBERS))}")
    rule, reason = str(row.get("rule", "")), str(row.get("reason") or "").strip()
    if rule not in all_rules():
        raise UnreadableFileError(f"{place}: no rule has the id {rule!r}")
    if not reason:
        raise UnreadableFileError(f"{place}: no reason; say why the findings of {rule} are meant")
    return Ignored(rule=rule, reason=reason, resource=str(row.get("resource") or ""))
