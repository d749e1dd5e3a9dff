"""Overrides in Python; tests/engines holds the same cases against the state machine's expressions."""

import json
from pathlib import Path

import pytest

from cdk_distributed_training.request.hyperparameters import number_text
from cdk_distributed_training.request.job_name import run_name
from cdk_distributed_training.request.override import ExecutionInputError, execution_input, overridable, override

HERE = Path(__file__).parent
CASES = json.loads((HERE / "execution_input_cases.json").read_text(encoding="utf-8"))
NAMES = json.loads((HERE / "job_name_cases.json").read_text(encoding="utf-8"))["cases"]
REQUEST = {
    "RoleArn": "arn:aws:iam::111111111111:role/train",
    "ResourceConfig": {"InstanceType": "ml.c7i.xlarge", "InstanceCount": CASES["defaults"]["instance_count"]},
    "HyperParameters": CASES["defaults"]["hyperparameters"],
}


@pytest.mark.parametrize("case", CASES["valid"], ids=lambda case: json.dumps(case["input"]))
def test_valid_input_overrides(case):
    given = execution_input(case["input"])
    changed = override(REQUEST, instance_count=given.instance_count, hyperparameters=given.hyperparameters)
    assert changed["ResourceConfig"]["InstanceCount"] == case.get("instance_count", 2)
    assert changed["HyperParameters"] == {**CASES["defaults"]["hyperparameters"], **case.get("hyperparameters", {})}


@pytest.mark.parametrize("case", CASES["refused"], ids=lambda case: json.dumps(case["input"]))
def test_wrong_input_is_refused(case):
    with pytest.raises(ExecutionInputError) as raised:
        execution_input(case["input"])
    assert str(raised.value) == case["error"]


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan"), 10**400])
def test_numbers_beyond_double_precision_are_refused(value):
    with pytest.raises(ExecutionInputError, match=r"^hyperparameters.lr must be a finite number; instance_count must"):
        execution_input({"hyperparameters": {"lr": value}, "instance_count": value})


@pytest.mark.parametrize(("number", "text"), CASES["numbers"].items())
def test_numbers_read_as_the_state_machine_writes_them(number, text):
    assert number_text(json.loads(number)) == text


@pytest.mark.parametrize(("prefix", "execution", "name"), NAMES)
def test_run_names(prefix, execution, name):
    assert run_name(prefix, execution) == name
    assert len(name) <= 54


def test_override_leaves_the_request_alone():
    before = json.dumps(REQUEST)
    changed = override(REQUEST, name="digits-1", instance_count=5, hyperparameters={"lr": "1"})
    changed["ResourceConfig"]["InstanceType"] = "ml.other"
    assert json.dumps(REQUEST) == before
    assert changed["TrainingJobName"] == "digits-1"
    assert changed["ResourceConfig"]["InstanceCount"] == 5


def test_override_with_nothing_is_a_copy():
    assert override(REQUEST) == REQUEST


def test_an_expression_replaces_the_hyperparameters():
    assert override(REQUEST, hyperparameters="{% $h %}")["HyperParameters"] == "{% $h %}"


def test_hyperparameters_of_a_request_without_any():
    request = {"ResourceConfig": {"InstanceCount": 1}}
    assert override(request, hyperparameters={"lr": "1"})["HyperParameters"] == {"lr": "1"}


GROUPS = {"ResourceConfig": {"InstanceGroups": [{"InstanceGroupName": "a", "InstanceCount": 1}]}}


def test_groups_of_machines_have_no_one_number():
    assert overridable(GROUPS) == ("hyperparameters",)
    assert overridable(REQUEST) == ("hyperparameters", "instance_count")
    with pytest.raises(ExecutionInputError, match=r"^unknown execution input: instance_count$"):
        execution_input({"instance_count": 2}, members=overridable(GROUPS))
    assert execution_input({"hyperparameters": {"lr": 1}}, members=overridable(GROUPS)).hyperparameters == {"lr": "1"}
