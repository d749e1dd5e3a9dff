"""The page of a rule, made of the rule itself: for `docs/rules/`, and for `dtrain check --explain`."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable

import yaml  # type: ignore[import-untyped]

from cdk_distributed_training.checks.examples import Example
from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.registry import all_rules
from cdk_distributed_training.checks.rule import Rule

_SUBJECTS = {
    "DT1": "Network and security groups",
    "DT2": "FSx for Lustre",
    "DT3": "Requests and jobs",
    "DT4": "Distribution and machines",
    "DT5": "Images",
    "DT6": "Permissions",
    "DT7": "State machines",
    "DT8": "Source code and launcher",
    "DT9": "Keywords",
}
_LONG = 60


def page(rule: Rule) -> str:
    """The page of a rule in Markdown."""
    source = [f"Source: <{rule.source}>, read {rule.since}."] if rule.source else [f"As of {rule.since}."]
    found_by = "`dtrain check`, and the validation plug-in."
    if rule.subject is None:
        found_by = "The constructs, when they are made."
    elif rule.bad.before is not None:
        found_by = "`dtrain check NEW --against OLD`."
    return "\n".join(
        [
            f"# {rule.id}: {rule.title}",
            "",
            f"Severity: {rule.severity.value}. Found by: {found_by}",
            "",
            rule.why,
            "",
            *source,
            "",
            "## Found",
            "",
            *_example(rule.bad),
            "",
            "## Right",
            "",
            *(_example(rule.good) if rule.good is not None else _advice(rule)),
            "",
        ]
    )


def index() -> str:
    """The list of all rules in Markdown."""
    lines = [
        "# Rules",
        "",
        "Made by `python -m cdk_distributed_training.checks.write_pages`; every example is judged by a test.",
        "",
        "Error: certain to fail as written or by default. Warning: fails under a use that the file itself names, or"
        " breaks a documented requirement. Information: true and useful.",
        "",
    ]
    for start, rules in itertools.groupby(all_rules().values(), key=lambda rule: rule.id[:3]):
        lines += [f"## {_SUBJECTS[start]}", "", "| rule | severity | finds |", "|---|---|---|"]
        lines += [f"| [{rule.id}]({rule.id}.md) | {rule.severity.value} | {rule.title} |" for rule in rules]
        lines.append("")
    return "\n".join(lines)


def _example(example: Example) -> Iterable[str]:
    if not example.is_document:
        return ["```python", *(f"{name} = {_shortened(value)!r}" for name, value in example.content.items()), "```"]
    if example.before is not None:
        return ["Deployed:", "", *_document(example.before), "", "Now:", "", *_document(example.content)]
    return _document(example.content)


def _document(content: object) -> list[str]:
    plain = json.loads(json.dumps(_shortened(content)))
    text = yaml.safe_dump(plain, sort_keys=False, width=110, allow_unicode=True)
    return ["```yaml", text.rstrip(), "```"]


def _advice(rule: Rule) -> Iterable[str]:
    """What the finding itself says, of a rule without a good example."""
    found = rule.check(**rule.bad.content)
    finding = found if isinstance(found, Finding) else next(iter(found))
    return [f"Allowed: {finding.allowed}. {finding.fix[0].upper()}{finding.fix[1:]}."]


def _shortened(value: object) -> object:
    """An example without the bulk of what is too long or too many."""
    if isinstance(value, dict):
        items = list(value.items())
        kept = items if len(items) <= _LONG else [*items[:2], ("...", f"{len(items)} in all"), items[-1]]
        return {key: _shortened(item) for key, item in kept}
    if isinstance(value, list):
        kept_items = value if len(value) <= _LONG else [*value[:2], f"... {len(value)} in all", value[-1]]
        return [_shortened(item) for item in kept_items]
    if isinstance(value, str) and len(value) > 200:
        return f"{value[:40]}... {len(value)} characters in all"
    return value
