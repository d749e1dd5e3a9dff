"""Judges a document by all rules, under its defaults and under every other use that it names itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.checks.registry import all_rules, rules_of_requests
from cdk_distributed_training.checks.report import Judgement, NotJudged, Report
from cdk_distributed_training.checks.rule import Check, Rule
from cdk_distributed_training.checks.scene import Scene
from cdk_distributed_training.checks.template.document import Document, Kind
from cdk_distributed_training.checks.template.view import NotJudgedError, Path
from cdk_distributed_training.checks.template.worlds import (
    World,
    default_world,
    names_used,
    other_worlds,
    with_many_nodes,
)

# services whose resources rules look at; conditions and parameters of others decide nothing
_JUDGED = ("AWS::EC2::", "AWS::FSx::", "AWS::IAM::", "AWS::SageMaker::", "AWS::Scheduler::", "AWS::StepFunctions::")
_JUDGED_TYPES = ("AWS::Serverless::StateMachine", "AWS::Events::Rule")
_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFORMATION: 2}


def judge(document: Document) -> Report:
    """All that the rules find in a document.

    What holds only under another use than the defaults is a warning at most: nobody may ever choose it.
    """
    found: dict[tuple[str, Path], Judgement] = {}
    not_judged: dict[NotJudged, None] = {}
    for world in _worlds(document, not_judged):
        scene = Scene(document, world)
        for outcome in _run(scene):
            if isinstance(outcome, NotJudged):
                if not world.label:
                    not_judged[outcome] = None
                continue
            if world.label and outcome.severity is Severity.ERROR:
                outcome = replace(outcome, severity=Severity.WARNING)  # noqa: PLW2901
            key = (outcome.rule, outcome.path)
            known = found.get(key)
            if known is None:
                found[key] = Judgement(outcome, document, (world.label,) if world.label else ())
            elif known.choices and world.label not in known.choices:
                found[key] = replace(known, choices=(*known.choices, world.label))
    ordered = sorted(found.values(), key=lambda item: (_ORDER[item.finding.severity], item.finding.rule))
    return Report(document, tuple(ordered), tuple(not_judged))


def _worlds(document: Document, not_judged: Mapping[NotJudged, None]) -> Iterator[World]:
    """The choices to judge under; `not_judged` fills while they are."""
    template = document.source.content if document.kind is Kind.TEMPLATE else {}
    defaults = default_world(template)
    yield defaults
    if any(item.path[-1:] == ("InstanceCount",) for item in not_judged):
        yield with_many_nodes(defaults)
    resources = template.get("Resources")
    nodes = [
        row
        for row in (resources.values() if isinstance(resources, dict) else ())
        if isinstance(row, dict) and str(row.get("Type")).startswith((*_JUDGED, *_JUDGED_TYPES))
    ]
    yield from other_worlds(template, names_used(template, nodes))


def _run(scene: Scene) -> Iterator[Finding | NotJudged]:
    known = rules_of_requests() if scene.document.kind is Kind.REQUEST else all_rules()
    for check, rules in _by_function(known.values()).items():
        subject_kind = rules[0].subject
        if scene.world.many_nodes and not getattr(subject_kind, "counts_nodes", False):
            continue  # nothing has changed for it
        for subject in scene.all(subject_kind) if subject_kind is not None else ():
            try:
                for finding in check(subject):
                    complete = known[finding.rule or rules[0].id].complete(finding)
                    yield replace(complete, path=_absolute(subject.path, complete.path))
            except NotJudgedError as error:
                # views of other resources than the subject carry their whole path
                whole = error.path[:1] == ("Resources",)
                yield NotJudged(rules[0].id, error.path if whole else (*subject.path, *error.path))


def _absolute(base: Path, path: Path) -> Path:
    """A path from the document's root; `..` at its beginning leads from a resource's properties to the resource."""
    return (*base[:-1], *path[1:]) if path[:1] == ("..",) else (*base, *path)


def _by_function(rules: Iterable[Rule]) -> dict[Check, list[Rule]]:
    """Rules that share a function, which is to run once."""
    functions: dict[Check, list[Rule]] = {}
    for rule in rules:
        functions.setdefault(rule.check, []).append(rule)
    return functions
