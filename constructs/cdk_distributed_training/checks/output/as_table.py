"""Findings as text for people."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from cdk_distributed_training.checks.findings import Severity
from cdk_distributed_training.checks.output.findings import Outcome, place
from cdk_distributed_training.checks.report import Judgement
from cdk_distributed_training.checks.rule import dotted

_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.INFORMATION: "bold blue"}


def print_table(outcome: Outcome, console: Console) -> None:
    """Write each finding with its place, what is allowed and what to do, then the sums."""
    for judgement in outcome.judgements:
        _print(judgement, console)
    for entry in outcome.unused:
        console.print(f"ignored nowhere: {entry.rule} {entry.resource}".rstrip(), style="dim", markup=False)
    counts = ", ".join(f"{count} {_noun(severity, count)}" for severity, count in outcome.counts().items())
    documents = f"{outcome.documents} document{'s' if outcome.documents != 1 else ''}"
    console.print(f"{documents}: {counts}", highlight=False)
    if outcome.ignored:
        console.print(f"ignored: {len(outcome.ignored)}", highlight=False)
    if outcome.not_judged:
        rules = len({item.rule for item in outcome.not_judged})
        console.print(
            f"not judged: {len(outcome.not_judged)} times a value that the file does not settle ({rules} rules);"
            " --format json lists them",
            style="dim",
            highlight=False,
        )


def _print(judgement: Judgement, console: Console) -> None:
    finding = judgement.finding
    head = Text.assemble(
        (f"{finding.severity.value} {finding.rule}", _STYLES[finding.severity]), "  ", (place(judgement), "cyan")
    )
    console.print(head, soft_wrap=True)
    where = judgement.construct_path or judgement.logical_id
    console.print(f"  {dotted(finding.path)}" + (f"  ({where})" if where else ""), markup=False, highlight=False)
    console.print(f"  {judgement.message}", markup=False, highlight=False)
    console.print(f"  fix: {finding.fix}", markup=False, highlight=False)


def _noun(severity: Severity, count: int) -> str:
    plural = {Severity.ERROR: "errors", Severity.WARNING: "warnings", Severity.INFORMATION: "information"}
    return plural[severity] if count != 1 else severity.value
