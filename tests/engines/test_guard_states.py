"""The state machine that starts one run at a time, with scripted answers in place of Step Functions."""

import json

import pytest
from tests.engines.state_runner import run_states
from tests.request.create_training_job_model import problems, state_machine_problems

from cdk_distributed_training.engines.pipeline.pipeline_runs import pipeline_runs
from cdk_distributed_training.engines.run_calls import state_machine_runs
from cdk_distributed_training.engines.schedule.guard_states import guard_definition

MACHINE = "arn:aws:states:us-east-1:111111111111:stateMachine:Job"
GIVEN = {"hyperparameters": {"lr": "0.2"}, "instance_count": 2}
NONE = {"result": {"Executions": []}}
STARTED = {"result": {"ExecutionArn": "arn:new"}}
TAKEN = {"error": "Sfn.ExecutionAlreadyExistsException", "cause": "Execution Already Exists"}


def one(name):
    return {"result": {"Executions": [{"ExecutionArn": f"arn:{name}", "Name": name}]}}


def run(*, listed, start=(STARTED,), waits=False, quiet=0):
    calls = state_machine_runs(MACHINE, GIVEN)
    definition = guard_definition(partition="aws", calls=calls, quiet=quiet, waits=waits)
    return run_states(definition, answers={"listExecutions": list(listed), "startExecution": list(start)})


def starts(outcome):
    return [arguments for api, arguments in outcome["calls"] if api == "startExecution"]


def test_a_run_starts_with_its_input():
    outcome = run(listed=[one("before"), NONE])
    assert (outcome["status"], outcome["output"]) == ("SUCCEEDED", {"ExecutionArn": "arn:new"})
    (arguments,) = starts(outcome)
    assert arguments["StateMachineArn"] == MACHINE
    assert json.loads(arguments["Input"]) == GIVEN
    assert state_machine_problems(arguments, "stepfunctions", "StartExecution") == []
    searches = [arguments for api, arguments in outcome["calls"] if api == "listExecutions"]
    assert searches == [
        {"StateMachineArn": MACHINE, "MaxResults": 1},
        {"StateMachineArn": MACHINE, "MaxResults": 1, "StatusFilter": "RUNNING"},
    ]
    assert all(state_machine_problems(search, "stepfunctions", "ListExecutions") == [] for search in searches)


def test_the_very_first_run():
    outcome = run(listed=[NONE])
    assert len(starts(outcome)) == 1


def test_two_starts_at_a_time_have_one_name_and_the_next_another():
    names = [starts(run(listed=[one(latest), NONE]))[0]["Name"] for latest in ("a", "a", "b")]
    assert names[0] == names[1] != names[2]


@pytest.mark.parametrize("waits", [False, True])
def test_a_start_that_another_was_faster_with_is_skipped(waits):
    outcome = run(listed=[one("before"), NONE], start=[TAKEN], waits=waits)
    assert (outcome["status"], outcome["visited"][-1]) == ("SUCCEEDED", "Skipped")


def test_the_latest_run_is_going_though_the_list_of_these_is_old():
    latest = {"result": {"Executions": [{"ExecutionArn": "arn:now", "Status": "RUNNING"}]}}
    outcome = run(listed=[latest, NONE])
    assert (outcome["status"], starts(outcome)) == ("SUCCEEDED", [])


def test_a_run_that_is_going_is_left_alone():
    outcome = run(listed=[one("now")])
    assert (outcome["status"], starts(outcome)) == ("SUCCEEDED", [])


def test_a_run_that_is_going_is_waited_for():
    outcome = run(listed=[{**one("now"), "until": 86400}, one("now"), NONE], waits=True)
    assert len(starts(outcome)) == 1
    assert 86400 <= outcome["waited"] < 86400 * 1.05


def test_a_run_that_begins_while_it_is_waited_is_enough():
    outcome = run(listed=[{**one("now"), "until": 600}, one("next")], waits=True)
    assert (outcome["status"], outcome["visited"][-1], starts(outcome)) == ("SUCCEEDED", "Skipped", [])


def test_a_month_of_waiting_fits_into_the_history():
    month = 30 * 86400
    outcome = run(listed=[{**one("now"), "until": month}, one("now"), NONE], waits=True)
    assert outcome["status"] == "SUCCEEDED"
    assert outcome["events"] < 25000


def test_others_may_follow_first():
    assert run(listed=[NONE], quiet=300)["waited"] == 300


def test_a_refusal_is_told():
    outcome = run(listed=[NONE], start=[{"error": "Sfn.StateMachineDoesNotExistException", "cause": "gone"}])
    assert (outcome["status"], outcome["error"]) == ("FAILED", "TrainingRunNotStarted")
    assert outcome["cause"] == "Sfn.StateMachineDoesNotExistException: gone"


def run_pipeline(*listed, waits=False):
    calls = pipeline_runs(pipeline_name="train", pipeline_arn="arn:pipeline", parameters={"lr": "0.2"})
    return run_states(
        guard_definition(partition="aws", calls=calls, quiet=0, waits=waits),
        answers={
            "listPipelineExecutions": list(listed),
            "startPipelineExecution": [{"result": {"PipelineExecutionArn": "arn:new"}}],
        },
    )


def executions(*statuses):
    pairs = [
        {"PipelineExecutionArn": f"arn:{number}", "PipelineExecutionStatus": status}
        for number, status in enumerate(statuses)
    ]
    return {"result": {"PipelineExecutionSummaries": pairs}}


@pytest.mark.parametrize("before", [executions(), executions("Succeeded", "Failed")])
def test_an_execution_of_a_pipeline(before):
    outcome = run_pipeline(before)
    assert (outcome["status"], outcome["output"]) == ("SUCCEEDED", {"ExecutionArn": "arn:new"})
    (start,) = [arguments for api, arguments in outcome["calls"] if api == "startPipelineExecution"]
    assert problems(start, "sagemaker", "StartPipelineExecution") == []
    assert start["PipelineParameters"] == [{"Name": "lr", "Value": "0.2"}]
    for api, arguments in outcome["calls"][:2]:
        assert api == "listPipelineExecutions"
        assert problems(arguments, "sagemaker", "ListPipelineExecutions") == []


@pytest.mark.parametrize("status", ["Executing", "Stopping"])
def test_an_execution_of_a_pipeline_that_is_going(status):
    outcome = run_pipeline(executions("Failed", status))
    assert (outcome["status"], outcome["visited"][-1], len(outcome["calls"])) == ("SUCCEEDED", "Skipped", 2)
    outcome = run_pipeline({**executions(status), "until": 3600}, executions("Succeeded"), waits=True)
    assert outcome["output"] == {"ExecutionArn": "arn:new"}
