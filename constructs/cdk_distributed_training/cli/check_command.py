"""`dtrain check`: judge anyone's templates, requests and definitions."""

from __future__ import annotations

import enum
import sys
from pathlib import Path
from typing import Annotated, Optional

import typer
from rich.console import Console

from cdk_distributed_training.checks.findings import Severity
from cdk_distributed_training.checks.ignore import DEFAULT_NAME, Ignored, read_ignored
from cdk_distributed_training.checks.judge import judge
from cdk_distributed_training.checks.output.as_json import as_json
from cdk_distributed_training.checks.output.as_sarif import as_sarif
from cdk_distributed_training.checks.output.as_table import print_table
from cdk_distributed_training.checks.output.findings import outcome
from cdk_distributed_training.checks.template.document import Document, read
from cdk_distributed_training.checks.template.errors import UnreadableFileError
from cdk_distributed_training.checks.template.pairs import paired

_UNREADABLE = 2


class Format(str, enum.Enum):
    """How findings are shown."""

    TABLE = "table"
    JSON = "json"
    SARIF = "sarif"


class FailOn(str, enum.Enum):
    """The least severe finding that makes the exit code 1."""

    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"
    NEVER = "never"

    @property
    def severities(self) -> list[Severity]:
        """The severities that fail."""
        order = [Severity.ERROR, Severity.WARNING, Severity.INFORMATION]
        return [] if self is FailOn.NEVER else order[: order.index(Severity(self.value)) + 1]


def check(
    files: Annotated[
        Optional[list[Path]],  # noqa: UP045  typer reads annotations at run time, on Python 3.10 too
        typer.Argument(metavar="FILE...", help="Templates, requests, state machines, pipelines, or cdk.out folders."),
    ] = None,
    *,
    output: Annotated[Format, typer.Option("--format", help="How findings are shown.")] = Format.TABLE,
    fail_on: Annotated[FailOn, typer.Option("--fail-on", help="Least severity that makes the exit code 1.")] = (
        FailOn.ERROR
    ),
    ignore: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            "--ignore", metavar="FILE", help=f"Findings that are meant, with reasons; {DEFAULT_NAME} if there is one."
        ),
    ] = None,
    against: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            "--against", metavar="OLD", help="The template or cdk.out as deployed: also judge what the change replaces."
        ),
    ] = None,
    explained: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--explain", metavar="RULE", help="Explain one rule, with examples, and exit."),
    ] = None,
) -> None:
    """Find what cannot run, in anyone's CloudFormation templates and CreateTrainingJob requests.

    Also in state machines' definitions, SageMaker Pipelines and the folders that `cdk synth` writes.
    Exit code: 0 without findings that fail, 1 with, 2 if a file cannot be read.
    """
    try:
        if explained is not None:
            from cdk_distributed_training.checks.explain import explain  # noqa: PLC0415  pages are made by PyYAML

            print(explain(explained))
            return
        reports = [judge(document) for document in _documents(files or [], against)]
        found = outcome(reports, _ignored(ignore))
    except UnreadableFileError as error:
        print(f"dtrain: {error}", file=sys.stderr)
        raise typer.Exit(_UNREADABLE) from error
    if output is Format.TABLE:
        print_table(found, Console())
    else:
        print(as_json(found) if output is Format.JSON else as_sarif(found))
    if any(judgement.finding.severity in fail_on.severities for judgement in found.judgements):
        raise typer.Exit(1)


def _documents(files: list[Path], against: Path | None) -> list[Document]:
    if not files:
        raise UnreadableFileError("no FILE; `dtrain check --help` says what can be checked")
    documents = [document for file in files for document in read(file)]
    return documents if against is None else list(paired(documents, read(against), named=str(against)))


def _ignored(path: Path | None) -> list[Ignored]:
    chosen = path or Path(DEFAULT_NAME)
    return [] if path is None and not chosen.is_file() else list(read_ignored(chosen))
