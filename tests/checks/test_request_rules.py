"""Rules about the request, on plain values."""

import pytest

from cdk_distributed_training.checks.rules import distribution, job, request, state_machine
from cdk_distributed_training.request import limits


def rules(findings):
    return [finding.rule for finding in findings]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, []),
        ({"lr": "x" * 2500, "y" * 256: "with\nnewline"}, []),
        ({str(number): "" for number in range(100)}, []),
        ({str(number): "" for number in range(101)}, ["DT301"]),
        ({"y" * 257: ""}, ["DT302"]),
        ({"lr": "x" * 2501}, ["DT303"]),
        ({"a": "x" * 2501, "b": "x" * 2501}, ["DT303", "DT303"]),
    ],
)
def test_hyperparameters(values, expected):
    assert rules(request.entries("hyperparameters", values, limits.HYPERPARAMETERS)) == expected


@pytest.mark.parametrize(
    ("name", "expected"), [("NCCL_DEBUG", []), ("_x", []), ("1x", ["DT302"]), ("A-B", ["DT302"]), ("", ["DT302"])]
)
def test_environment_names(name, expected):
    assert rules(request.entries("environment", {name: "1"}, limits.ENVIRONMENT_OF_JOB)) == expected


def test_environment_leaves_room_for_the_engine():
    values = {f"A{number}": "" for number in range(100)}
    (finding,) = request.entries("environment", values, limits.ENVIRONMENT_OF_JOB)
    assert finding.allowed == "at most 99"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([], []),
        (["train", "valid.v2"], []),
        (["train", "train"], ["DT306"]),
        (["code"], ["DT306"]),
        (["launcher"], ["DT306"]),
        (["a b"], ["DT305"]),
        ([""], ["DT305"]),
        (["x" * 65], ["DT305"]),
        ([f"c{number}" for number in range(18)], []),
        ([f"c{number}" for number in range(19)], ["DT307"]),
    ],
)
def test_channel_names(names, expected):
    assert rules(request.channel_names(names, ("launcher", "code"))) == expected


@pytest.mark.parametrize(("words", "count"), [(["x" * 256], 0), (["x" * 257], 1), (["x"] * 100, 0), (["x"] * 101, 1)])
def test_container_words(words, count):
    assert rules(request.container_words("source.arguments", words)) == ["DT309"] * count


@pytest.mark.parametrize("name", ["a", "digits", "a-b-0", "0", "a" * 30])
def test_job_names(name):
    assert not list(job.job_name(name))


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("My_exp.v2", "use 'my-exp-v2'"),
        ("-a-", "use 'a'"),
        ("a--b", "use 'a-b'"),
        ("a" * 31, f"use '{'a' * 30}'"),
        ("...", "leave it out to name the job by its construct path"),
        ("", "leave it out to name the job by its construct path"),
    ],
)
def test_job_names_that_cannot_be(name, fix):
    (finding,) = job.job_name(name)
    assert (finding.rule, finding.fix) == ("DT310", fix)


@pytest.mark.parametrize(
    ("seconds", "expected"), [(1, []), (28 * 86400, []), (0, ["DT311"]), (1.5, ["DT311"]), (28 * 86400 + 1, ["DT311"])]
)
def test_max_runtime(seconds, expected):
    assert rules(job.max_runtime(seconds)) == expected


@pytest.mark.parametrize(("wait", "expected"), [(10, []), (11, []), (9, ["DT312"]), (10.5, ["DT312"])])
def test_max_wait(wait, expected):
    assert rules(job.max_wait(wait, 10)) == expected


@pytest.mark.parametrize(
    ("channels", "network", "expected"),
    [
        ({}, None, []),
        ({}, "a", []),
        ({"train": "a", "valid": "a"}, None, []),
        ({"train": "a"}, "a", []),
        ({"train": "a", "valid": "b"}, None, ["DT313"]),
        ({"train": "a"}, "b", ["DT313"]),
    ],
)
def test_one_network(channels, network, expected):
    assert rules(job.one_network(channels, network)) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("x", []),
        ("{% x", []),
        (" {% x %}", []),
        ("{% x %}", ["DT701"]),
        ({"a": {"b": ["{%1%}"]}}, ["DT701"]),
        ({"a": 1, "b": None}, []),
    ],
)
def test_text_that_would_be_evaluated(value, expected):
    assert rules(state_machine.no_expressions("hyperparameters", value)) == expected


def test_where_an_expression_stands_is_said():
    (finding,) = state_machine.no_expressions("hyperparameters", {"a": ["x", "{%1%}"]})
    assert finding.prop == "hyperparameters['a'][1]"


@pytest.mark.parametrize(
    ("seconds", "expected"), [(1, []), (30, []), (0, ["DT703"]), (0.5, ["DT703"]), (-1e289, ["DT703"])]
)
def test_poll_interval(seconds, expected):
    assert rules(state_machine.poll_interval(seconds)) == expected


@pytest.mark.parametrize(
    ("count", "expected"), [(1, []), (64, []), (0, ["DT402"]), (True, ["DT402"]), (2.0, ["DT402"])]
)
def test_instance_count(count, expected):
    assert rules(distribution.instance_count(count)) == expected


def test_every_finding_says_what_to_do():
    findings = [
        *request.entries("hyperparameters", {"x" * 300: "y" * 3000}, limits.HYPERPARAMETERS),
        *request.channel_names(["code", "a b"], ("launcher", "code")),
        *request.s3_uri("uri", "x" * 2000),
        *job.job_name("NO"),
        *job.max_runtime(0),
        *state_machine.reserved_variable({"TRAINING_EXECUTION_ARN": ""}),
    ]
    for finding in findings:
        assert finding.got
        assert finding.allowed
        assert finding.fix
        assert len(str(finding)) < 500
