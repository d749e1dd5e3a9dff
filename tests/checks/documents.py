"""Documents for tests, made of plain data."""

import copy
from dataclasses import replace

from cdk_distributed_training.checks import examples
from cdk_distributed_training.checks.judge import judge
from cdk_distributed_training.checks.template.document import Document, Kind, read_text
from cdk_distributed_training.checks.template.source import Source

SYNC = "arn:aws:states:::sagemaker:createTrainingJob.sync"


def document(content, kind=Kind.TEMPLATE, *, region=None, before=None):
    deployed = None if before is None else document(before)
    return Document(Source("document", content, lambda path: (1, 1)), kind, region, before=deployed)


def of_example(example):
    """The document of a rule's example."""
    read = read_text(example.text(), name="example.json")
    return read if example.before is None else replace(read, before=document(example.before))


def findings(content, kind=Kind.TEMPLATE, *, region=None, before=None):
    """Rule and path of all that is found."""
    report = judge(document(content, kind, region=region, before=before))
    return {(item.finding.rule, item.finding.path) for item in report.judgements}


def rules(content, kind=Kind.TEMPLATE, *, region=None):
    """Ids of all that is found."""
    return {rule for rule, _ in findings(content, kind, region=region)}


def in_template(content, kind):
    """Any document as a part of a template, where values can be tokens."""
    if kind is Kind.TEMPLATE:
        return copy.deepcopy(content)
    if kind is Kind.REQUEST:
        task = {"Type": "Task", "Resource": SYNC, "Parameters": content, "End": True}
        content = {"StartAt": "Train", "States": {"Train": task}}
    return examples.template({"Machine": examples.state_machine(content)}).content


def places(node, path=()):
    """Paths of all members of a document, except for those inside of functions."""
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    is_function = isinstance(node, dict) and len(node) == 1 and next(iter(node)).startswith(("Fn::", "Ref"))
    for key, value in [] if is_function else items:
        yield (*path, key)
        yield from places(value, (*path, key))


def replaced(content, path, value):
    """A copy with another value at a path; what is missing on the way is added."""
    copied = copy.deepcopy(content)
    node = copied
    for key in path[:-1]:
        node = node.setdefault(key, {}) if isinstance(node, dict) else node[key]
    node[path[-1]] = value
    return copied
