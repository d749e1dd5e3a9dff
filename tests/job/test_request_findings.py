"""A job's own request under the rules: every member good, bad and as a token, in the words of the job's properties."""

import copy

import aws_cdk as cdk
import pytest
from tests.request.whole_request import MACHINES, MEMBERS

from cdk_distributed_training.checks.findings import Severity
from cdk_distributed_training.job.request_findings import request_findings
from cdk_distributed_training.request.retry_strategy import RetryStrategy
from cdk_distributed_training.request.training_job_request import TrainingJobRequest

# these two exclude each other with others of the whole request
LEFT_OUT = {"serverless", "model_package", "spot"}
REQUESTS = [
    TrainingJobRequest(
        role_arn="arn:aws:iam::111122223333:role/train",
        instances=machines,
        **{name: value for name, value in MEMBERS.items() if name not in LEFT_OUT},
    )
    for machines in MACHINES
]
TEXT = "${Token[TOKEN.1]}"


def leaves(value, path=()):
    if isinstance(value, dict):
        for name, item in value.items():
            yield from leaves(item, (*path, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    else:
        yield path, value


def changed(request, path, value):
    rendered = copy.deepcopy(request.render())
    parent = rendered
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = value
    return rendered


def findings(request, rendered):
    return request_findings(request, rendered, region="us-east-1")


def errors(request, rendered):
    return {(row.rule, row.prop) for row in findings(request, rendered) if row.severity is Severity.ERROR}


def rules(request, rendered):
    return {rule for rule, _ in errors(request, rendered)}


ALL = [(request, path, value) for request in REQUESTS for path, value in leaves(request.render())]
IDS = [".".join(map(str, path)) for _, path, _ in ALL]


@pytest.mark.parametrize(("request_", "path", "value"), ALL, ids=IDS)
def test_a_token_is_never_judged(request_, path, value):
    before = rules(request_, request_.render())
    number = cdk.Token.as_number({"Ref": "Number"})
    token = number if isinstance(value, (int, float)) and not isinstance(value, bool) else TEXT
    assert rules(request_, changed(request_, path, token)) <= before


def test_a_request_of_nothing_but_tokens():
    request = REQUESTS[0]
    rendered = request.render()
    for path, value in leaves(request.render()):
        parent = rendered
        for key in path[:-1]:
            parent = parent[key]
        parent[path[-1]] = TEXT if isinstance(value, str) else value
    assert rules(request, rendered) <= {"DT366", "DT341"}


LIMITED = [
    (request, path, value)
    for request, path, value in ALL
    # names of instance types pass with a warning, and ids of EvaluatorArn's kind have no limit
    if isinstance(value, str) and path[-1] not in ("InstanceType", "InstanceGroupNames")
]


@pytest.mark.parametrize(
    ("request_", "path", "value"), LIMITED, ids=[".".join(map(str, path)) for _, path, _ in LIMITED]
)
def test_a_text_that_is_no_such_text_is_found(request_, path, value):
    del value
    before = {(row.rule, row.prop, row.got) for row in findings(request_, request_.render())}
    found = findings(request_, changed(request_, path, "\u0000" + "x" * 5000))
    new = [row for row in found if (row.rule, row.prop, row.got) not in before]
    assert new
    # in the words of the properties: the API's own names stand only below a channel or a map
    assert all(row.prop[:1].islower() for row in new), [row.prop for row in new]


@pytest.mark.parametrize("attempts", [0, 31, -1])
def test_a_number_out_of_range_is_found(attempts):
    request = TrainingJobRequest(
        role_arn="arn:aws:iam::111122223333:role/train",
        instances=MACHINES[0],
        **{name: value for name, value in MEMBERS.items() if name not in {*LEFT_OUT, "retry"}},
        retry=RetryStrategy(maximum_retry_attempts=attempts),
    )
    assert ("DT335", "retry.maximum_retry_attempts") in errors(request, request.render())
