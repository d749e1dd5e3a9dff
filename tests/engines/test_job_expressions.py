"""The state machine's expressions in the reference JSONata engine, on the cases that Python's rules are tested with."""

import json
import re
from pathlib import Path

import pytest
from tests.engines.jsonata_engine import evaluate

from cdk_distributed_training.engines.job_expressions import expression, overrides, run_name

REQUEST_TESTS = Path(__file__).parents[1] / "request"
CASES = json.loads((REQUEST_TESTS / "execution_input_cases.json").read_text(encoding="utf-8"))
NAMES = json.loads((REQUEST_TESTS / "job_name_cases.json").read_text(encoding="utf-8"))["cases"]

OVERRIDES = expression(overrides("$defaults", "$states.input"))
NAME = expression(run_name("$defaults.job_name", "$states.context.Execution.Name"))


@pytest.fixture(scope="module")
def outcomes():
    inputs = [case["input"] for case in [*CASES["valid"], *CASES["refused"]]]
    results = evaluate([(OVERRIDES, {"defaults": CASES["defaults"], "states": {"input": given}}) for given in inputs])
    return {json.dumps(given): result for given, result in zip(inputs, results, strict=True)}


@pytest.mark.parametrize("case", CASES["valid"], ids=lambda case: json.dumps(case["input"]))
def test_valid_input_overrides(case, outcomes):
    assert outcomes[json.dumps(case["input"])] == {
        "value": {
            "instance_count": case.get("instance_count", 2),
            "hyperparameters": {**CASES["defaults"]["hyperparameters"], **case.get("hyperparameters", {})},
        }
    }


@pytest.mark.parametrize("case", CASES["refused"], ids=lambda case: json.dumps(case["input"]))
def test_wrong_input_is_refused(case, outcomes):
    assert outcomes[json.dumps(case["input"])] == {"error": case["error"]}


def test_numbers():
    defaults = json.dumps({"instance_count": 1, "hyperparameters": {}})
    results = evaluate(
        (OVERRIDES, f'{{"defaults": {defaults}, "states": {{"input": {{"hyperparameters": {{"n": {number}}}}}}}}}')
        for number in CASES["numbers"]
    )
    texts = [result["value"]["hyperparameters"]["n"] for result in results]
    assert dict(zip(CASES["numbers"], texts, strict=True)) == CASES["numbers"]


def test_run_names():
    results = evaluate(
        (NAME, {"defaults": {"job_name": prefix}, "states": {"context": {"Execution": {"Name": execution}}}})
        for prefix, execution, _ in NAMES
    )
    assert [result["value"] for result in results] == [name for _, _, name in NAMES]
    legal = re.compile(r"[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}")
    assert all(legal.fullmatch(f"{result['value']}-0123abcd") for result in results)
