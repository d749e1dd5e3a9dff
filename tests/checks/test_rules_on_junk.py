"""Files of any shape are judged or refused, never met with a traceback."""

import random

import pytest
from tests.checks.documents import document, places, replaced

from cdk_distributed_training.checks.judge import judge
from cdk_distributed_training.checks.registry import all_rules
from cdk_distributed_training.checks.template.document import read_text

JUNK = [
    None, [], {}, "", "x", 7, -1.5, True, ["x"], [None], [[]], {"a": None}, {"Fn::If": ["C", 1]}, {"Fn::Sub": "${"},
    {"Fn::Sub": ["${a}", {"a": {"Ref": "AWS::NoValue"}}]}, {"Ref": ["a"]}, {"Fn::GetAtt": "x"},
    {"Fn::Select": ["9", []]},
    {"Fn::Join": ["", 1]}, {"Fn::Cidr": ["x", 1, 2]}, {"Fn::FindInMap": ["a", "b", "c"]}, {"Fn::ForEach::X": []},
    {"Fn::Split": ["", "a"]}, {"Condition": "Condition"},
]  # fmt: skip


@pytest.mark.parametrize("rule", [rule for rule in all_rules().values() if rule.subject], ids=lambda rule: rule.id)
def test_junk_anywhere(rule):
    kind = read_text(rule.bad.text()).kind
    chance = random.Random(rule.id)
    for path in places(rule.bad.content):
        for value in chance.sample(JUNK, 3):
            judge(document(replaced(rule.bad.content, path, value), kind, before=rule.bad.before))
    before = rule.bad.before or {}
    for path in places(before):
        for value in chance.sample(JUNK, 3):
            judge(document(rule.bad.content, before=replaced(before, path, value)))


@pytest.mark.parametrize("member", ["Resources", "Conditions", "Parameters", "Mappings", "Outputs"])
@pytest.mark.parametrize("value", JUNK, ids=str)
def test_junk_at_the_top(member, value):
    content = {"Resources": {"Fs": {"Type": "AWS::FSx::FileSystem", "Condition": "C", "Properties": {}}}, member: value}
    judge(document(content))
