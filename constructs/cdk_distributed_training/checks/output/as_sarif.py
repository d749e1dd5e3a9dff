"""Findings as SARIF 2.1.0, which code hosts show beside the lines.

Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from cdk_distributed_training.checks.findings import Severity
from cdk_distributed_training.checks.output.findings import Outcome
from cdk_distributed_training.checks.registry import all_rules
from cdk_distributed_training.checks.report import Judgement
from cdk_distributed_training.checks.rule import Rule, dotted
from cdk_distributed_training.version import __version__

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFORMATION: "note"}
_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def as_sarif(outcome: Outcome) -> str:
    """The outcome as a SARIF log with one run; ignored findings are in it as suppressed ones."""
    found = [*((judgement, None) for judgement in outcome.judgements), *outcome.ignored]
    ids = sorted({judgement.finding.rule for judgement, _ in found})
    results = [
        _result(judgement, ids.index(judgement.finding.rule), None if entry is None else entry.reason)
        for judgement, entry in found
    ]
    driver = {
        "name": "dtrain check",
        "version": __version__,
        "rules": [_rule(all_rules()[rule_id]) for rule_id in ids],
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return json.dumps(log, indent=2)


def _rule(rule: Rule) -> dict[str, Any]:
    described: dict[str, Any] = {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.why},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }
    return {**described, "helpUri": rule.source} if rule.source else described


def _result(judgement: Judgement, index: int, reason: str | None) -> dict[str, Any]:
    finding = judgement.finding
    line, column = judgement.position
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(judgement.document.source.name)},
            "region": {"startLine": line, "startColumn": column},
        },
    }
    name = judgement.construct_path or dotted(finding.path)
    if name:
        location["logicalLocations"] = [{"fullyQualifiedName": name}]
    result = {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{dotted(finding.path)}: {judgement.message}; {finding.fix}"},
        "locations": [location],
    }
    if reason is not None:
        result["suppressions"] = [{"kind": "external", "justification": reason}]
    return result


def _uri(name: str) -> str:
    """A file's name as a URI, relative where the name is: spaces and the like are escaped."""
    path = Path(name)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
