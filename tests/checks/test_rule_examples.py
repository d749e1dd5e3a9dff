"""Every rule finds its bad example and nothing else, and nothing in its good one."""

import datetime

import pytest
from tests.checks.documents import of_example

from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.checks.judge import judge
from cdk_distributed_training.checks.registry import all_rules
from cdk_distributed_training.checks.rules import request_images

ON_DOCUMENTS = [rule for rule in all_rules().values() if rule.subject is not None]
ON_VALUES = [rule for rule in all_rules().values() if rule.subject is None]


def by_id(rule):
    return rule.id


@pytest.fixture(autouse=True)
def one_day(monkeypatch):
    monkeypatch.setattr(request_images, "today", lambda: datetime.date(2026, 11, 30))


def found(example):
    return judge(of_example(example)).judgements


@pytest.mark.parametrize("rule", ON_DOCUMENTS, ids=by_id)
def test_bad_document(rule):
    judgements = found(rule.bad)
    assert {item.finding.rule for item in judgements} == {rule.id}
    assert {item.finding.severity for item in judgements} == {rule.severity}
    assert {item.finding.source for item in judgements} == {rule.source}


@pytest.mark.parametrize("rule", ON_DOCUMENTS, ids=by_id)
def test_good_document(rule):
    assert [str(item.finding) for item in found(rule.good)] == []


def findings(rule, example):
    answer = rule.check(**example.content)
    return [answer] if isinstance(answer, Finding) else list(answer)


@pytest.mark.parametrize("rule", ON_VALUES, ids=by_id)
def test_bad_values(rule):
    answer = findings(rule, rule.bad)
    assert {finding.rule for finding in answer} == {rule.id}
    assert {finding.severity for finding in answer} == {rule.severity}
    assert {finding.source for finding in answer} == {rule.source}


@pytest.mark.parametrize("rule", [rule for rule in ON_VALUES if rule.good is not None], ids=by_id)
def test_good_values(rule):
    assert findings(rule, rule.good) == []


@pytest.mark.parametrize("rule", all_rules().values(), ids=by_id)
def test_words_of_a_rule(rule):
    assert rule.title[0].isupper() or rule.title.startswith(("torchrun",))
    assert not rule.title.endswith(".")
    assert rule.why.endswith(".")
    assert datetime.date.fromisoformat(f"{rule.since}-01")
    assert rule.source.startswith("https://") or not rule.source
    # what is only useful to know may follow from the files alone; what fails has a page that says so
    assert rule.source or rule.severity is not Severity.WARNING or rule.subject is None


def test_there_are_enough():
    assert len(ON_DOCUMENTS) >= 150
    assert len(all_rules()) >= 190
