"""Findings as JSON, for programs."""

from __future__ import annotations

import json
from typing import Any

from cdk_distributed_training.checks.output.findings import Outcome
from cdk_distributed_training.checks.report import Judgement
from cdk_distributed_training.checks.rule import dotted


def as_json(outcome: Outcome) -> str:
    """The outcome as one JSON object; members are added in later versions, and keep their meaning."""
    data = {
        "schema": 1,
        "documents": outcome.documents,
        "counts": {severity.value: count for severity, count in outcome.counts().items()},
        "findings": [_finding(judgement) for judgement in outcome.judgements],
        "ignored": [{**_finding(judgement), "reason": entry.reason} for judgement, entry in outcome.ignored],
        "unused_ignores": [
            {"rule": entry.rule, "resource": entry.resource, "reason": entry.reason} for entry in outcome.unused
        ],
        "not_judged": [{"rule": item.rule, "path": dotted(item.path)} for item in outcome.not_judged],
    }
    return json.dumps(data, indent=2)


def _finding(judgement: Judgement) -> dict[str, Any]:
    finding = judgement.finding
    line, column = judgement.position
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "file": judgement.document.source.name,
        "line": line,
        "column": column,
        "resource": judgement.logical_id,
        "construct": judgement.construct_path,
        "path": dotted(finding.path),
        "got": finding.got,
        "when": judgement.choice,
        "allowed": finding.allowed,
        "fix": finding.fix,
        "source": finding.source,
    }
