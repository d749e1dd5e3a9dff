"""The guard as a real state machine on local AWS: of starts at the same time, one comes about."""

import json
import time

import boto3
import pytest

from cdk_distributed_training.engines.run_calls import state_machine_runs
from cdk_distributed_training.engines.schedule.guard_states import guard_definition
from cdk_distributed_training.local.aws.additions import short_waits
from cdk_distributed_training.local.aws.server import Server

ROLE = "arn:aws:iam::123456789012:role/machine"
# goes on until it is stopped, so that nothing here depends on how fast anything is
RUN = {
    "QueryLanguage": "JSONata",
    "StartAt": "Train",
    "States": {
        "Train": {"Type": "Wait", "Seconds": 1, "Next": "More"},
        "More": {"Type": "Choice", "Choices": [{"Condition": "{% false %}", "Next": "Done"}], "Default": "Train"},
        "Done": {"Type": "Succeed"},
    },
}


@pytest.fixture(scope="module")
def step_functions():
    usual, short_waits.longest_seconds = short_waits.longest_seconds, 0.2
    with Server():
        yield boto3.client("stepfunctions")
    short_waits.longest_seconds = usual


@pytest.fixture(scope="module")
def target(step_functions):
    return machine(step_functions, "train", RUN)


def machine(step_functions, name, definition):
    made = step_functions.create_state_machine(name=name, definition=json.dumps(definition), roleArn=ROLE)
    return made["stateMachineArn"]


def guard(step_functions, target, *, patient):
    calls = state_machine_runs(target, {"hyperparameters": {"lr": "0.1"}})
    definition = guard_definition(partition="aws", calls=calls, quiet=0, waits=patient)
    return machine(step_functions, f"guard-{patient}", definition)


def start(step_functions, guarding, name):
    return step_functions.start_execution(stateMachineArn=guarding, name=name)["executionArn"]


def ended(step_functions, execution):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = step_functions.describe_execution(executionArn=execution)
        if found["status"] != "RUNNING":
            return found
        time.sleep(0.1)
    raise AssertionError("still running")


def waits(step_functions, execution):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        events = step_functions.get_execution_history(executionArn=execution)["events"]
        if any(event["type"] == "WaitStateEntered" for event in events):
            return True
        time.sleep(0.1)
    return False


def test_one_run_at_a_time(step_functions, target):
    skipping, waiting = (guard(step_functions, target, patient=patient) for patient in (False, True))
    starts = [start(step_functions, skipping, f"start-{number}") for number in range(4)]
    outcomes = [ended(step_functions, execution) for execution in starts]
    assert [outcome["status"] for outcome in outcomes] == ["SUCCEEDED"] * 4, outcomes
    (first,) = step_functions.list_executions(stateMachineArn=target)["executions"]

    # those that wait for its end start one more, together
    starts = [start(step_functions, waiting, f"start-{number}") for number in range(3)]
    assert all(waits(step_functions, execution) for execution in starts)
    step_functions.stop_execution(executionArn=first["executionArn"])
    outcomes = [ended(step_functions, execution) for execution in starts]
    assert [outcome["status"] for outcome in outcomes] == ["SUCCEEDED"] * 3, outcomes
    runs = step_functions.list_executions(stateMachineArn=target)["executions"]
    (second,) = [run for run in runs if run["executionArn"] != first["executionArn"]]
    given = step_functions.describe_execution(executionArn=second["executionArn"])["input"]
    assert json.loads(given) == {"hyperparameters": {"lr": "0.1"}}
    step_functions.stop_execution(executionArn=second["executionArn"])
