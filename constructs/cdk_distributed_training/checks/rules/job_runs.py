"""How state machines run training jobs (DT710 to DT717)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cdk_distributed_training.checks.examples import Data, Example, merged, request, state_machine, template
from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.checks.rule import problem, rule
from cdk_distributed_training.checks.subjects.state_machine import StateMachine, is_sync
from cdk_distributed_training.checks.template.graph import Resource
from cdk_distributed_training.checks.template.values import Token
from cdk_distributed_training.checks.template.view import NotJudgedError, View, values

_SOURCE = "https://docs.aws.amazon.com/step-functions/latest/dg/connect-sagemaker.html"
_ERRORS = "https://docs.aws.amazon.com/step-functions/latest/dg/concepts-error-handling.html"
_QUOTAS = "https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html"
_NAMES = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTrainingJob.html"
_CREATE = "arn:aws:states:::aws-sdk:sagemaker:createTrainingJob"
_DESCRIBE = "arn:aws:states:::aws-sdk:sagemaker:describeTrainingJob"
_MOST_EVENTS = 25_000
# Wait (3), Task (5) and Choice (2): entered, scheduled, started, succeeded, exited
_EVENTS_PER_LOOK = 10
# errors at which no job has been made, so that its name is free
_BEFORE_CREATION = ("throttl", "limitexceeded", "resourcelimit", "toomanyrequests", "capacity", "serviceunavailable")
_PARAMETERS: Data = {key: value for key, value in request().content.items() if key not in ("TrainingJobName",)}


def _one(**changes: Any) -> Example:
    """One task that runs a job."""
    task = {
        "Type": "Task",
        "Resource": "arn:aws:states:::sagemaker:createTrainingJob.sync",
        "Parameters": {"TrainingJobName.$": "$$.Execution.Name", **_PARAMETERS},
        "End": True,
    }
    return Example({"StartAt": "Train", "States": {"Train": merged(task, changes)}})


def _polling(*, wait: int = 60, choices: tuple[str, ...] = ("Completed", "Failed", "Stopped"), **default: Any) -> Data:
    """A job that is looked at again and again."""
    status = "$.TrainingJobStatus"
    ends = {"Completed": "Done", "Failed": "Failed", "Stopped": "Failed"}
    rows = [{"Variable": status, "StringEquals": name, "Next": ends[name]} for name in choices]
    return {
        "StartAt": "Train",
        "States": {
            "Train": {
                "Type": "Task",
                "Resource": _CREATE,
                "Parameters": {"TrainingJobName.$": "$$.Execution.Name", **_PARAMETERS},
                "Next": "Wait",
            },
            "Wait": {"Type": "Wait", "Seconds": wait, "Next": "Look"},
            "Look": {
                "Type": "Task",
                "Resource": _DESCRIBE,
                "Parameters": {"TrainingJobName.$": "$$.Execution.Name"},
                "Next": "Ended",
            },
            "Ended": {"Type": "Choice", "Choices": rows, "Default": "Wait", **default},
            "Done": {"Type": "Succeed"},
            "Failed": {"Type": "Fail"},
        },
    }


_ON_STOP: Data = {
    "Type": "AWS::Events::Rule",
    "Properties": {
        "EventPattern": {
            "source": ["aws.states"],
            "detail-type": ["Step Functions Execution Status Change"],
            "detail": {"status": ["ABORTED", "TIMED_OUT"]},
        },
        "Targets": [{"Id": "Stop", "Arn": "arn:aws:states:us-east-1:111122223333:stateMachine:Stop"}],
    },
}


@rule(
    "DT710",
    on=StateMachine,
    severity=Severity.WARNING,
    title="One name for every run",
    why="Names of training jobs are unique for ever: the second execution fails.",
    source=_NAMES,
    bad=_one(Parameters={"TrainingJobName.$": None, "TrainingJobName": "pretrain"}),
    good=_one(),
)
def fixed_name(machine: StateMachine) -> Iterator[Finding]:
    """DT710: the name is made of the execution's, or of the input."""
    for state in machine.tasks("sagemaker:createTrainingJob"):
        key, view = state.arguments_key, state.arguments
        name = view.raw("TrainingJobName") if not isinstance(view.value, Token) else None
        if isinstance(name, str):
            yield problem(
                *state.path,
                key,
                "TrainingJobName",
                got=repr(name),
                allowed="a name that differs at every run",
                fix="use the execution's name, $$.Execution.Name or $states.context.Execution.Name",
            )


@rule(
    "DT711",
    on=StateMachine,
    severity=Severity.WARNING,
    title="A retry under the same name",
    why="The failed job has taken the name: every further attempt is refused, and the first error is lost.",
    source=_NAMES,
    bad=_one(Retry=[{"ErrorEquals": ["States.ALL"], "MaxAttempts": 3}]),
    good=_one(Retry=[{"ErrorEquals": ["SageMaker.AmazonSageMakerException.ThrottlingException"], "MaxAttempts": 3}]),
)
def retry_with_new_name(machine: StateMachine) -> Iterator[Finding]:
    """DT711: retries of errors that come after the job is made, with a name that stays."""
    for state in machine.tasks("sagemaker:createTrainingJob"):
        key = state.arguments_key
        members = state.body.get(key)
        name = ""
        if isinstance(members, Mapping):
            name = _expression(members.get("TrainingJobName.$") or members.get("TrainingJobName"))
        if not is_sync(state) or not name or _is_new_each_time(name):
            continue
        for row in state.view.items("Retry"):
            errors = [error for error in values(row, "ErrorEquals") if isinstance(error, str)]
            if row.number("MaxAttempts") != 0 and any(map(_after_creation, errors)):
                yield problem(
                    *state.path,
                    *row.path,
                    got=f"a retry of {', '.join(errors)} with the name {name}",
                    allowed="retries of throttling and capacity errors, or a new name at each attempt",
                    fix="add the retry count to the name: $$.State.RetryCount or $states.context.State.RetryCount",
                )


def _expression(value: Any) -> str:
    """An expression as written; empty where it is settled only at deployment."""
    return value if isinstance(value, str) else ""


def _is_new_each_time(name: str) -> bool:
    return any(word in name for word in ("RetryCount", "UUID", "uuid", "millis", "EnteredTime", "random", "now("))


def _after_creation(error: str) -> bool:
    return not any(word in error.lower() for word in _BEFORE_CREATION)


@rule(
    "DT712",
    on=StateMachine,
    severity=Severity.WARNING,
    title="A loop that a stopped job does not end",
    why="Someone stops the job, and the execution looks at it for a year: 'Stopped' is neither completed nor failed.",
    source=_SOURCE,
    bad=template({"Job": state_machine(_polling(choices=("Completed", "Failed"))), "OnStop": _ON_STOP}),
    good=template({"Job": state_machine(_polling()), "OnStop": _ON_STOP}),
)
def stopped_ends(machine: StateMachine) -> Iterator[Finding]:
    """DT712: every final status leaves the loop."""
    for state in machine.states:
        if state.kind != "Choice" or isinstance(state.body.get("Choices"), Token):
            continue
        words = str(state.body.get("Choices"))
        looks = "TrainingJobStatus" in words and "Completed" in words
        unknown = "Unknown(" in words or "Reference(" in words or "PartialText(" in words
        returns = not unknown and _leads_to_wait(machine, state.body.get("Default"))
        if looks and returns and "Stopped" not in words and "InProgress" not in words:
            yield problem(
                *state.path,
                "Choices",
                got="choices without Stopped, and a default that waits again",
                allowed="Completed, Failed and Stopped",
                fix="add a choice for Stopped, or wait only for InProgress and Stopping",
            )


def _is_about_executions(events_rule: Resource) -> bool:
    """Whether a rule of EventBridge hears of executions that end."""
    pattern = View(events_rule.properties.raw("EventPattern"))
    kinds = values(pattern, "detail-type")
    if any(isinstance(kind, Token) for kind in kinds):
        raise NotJudgedError(("States",))
    return any("Execution Status Change" in str(kind) for kind in kinds)


def _leads_to_wait(machine: StateMachine, name: Any) -> bool:
    states = {state.name: state for state in machine.states}
    for _ in range(5):
        state = states.get(name) if isinstance(name, str) else None
        if state is None:
            return False
        if state.kind == "Wait":
            return True
        name = state.body.get("Next")
    return False


@rule(
    "DT713",
    on=StateMachine,
    severity=Severity.WARNING,
    title="A job that runs on when its execution is aborted",
    why="An aborted or timed-out execution leaves the job running, and billed, until its own time is up.",
    source=_SOURCE,
    bad=template({"Job": state_machine(_polling())}),
    good=template({"Job": state_machine(_polling()), "OnStop": _ON_STOP}),
)
def abort_stops(machine: StateMachine) -> Iterator[Finding]:
    """DT713: only `.sync` stops the job by itself; loops need a rule on the execution's end."""
    loops = [task for task in machine.tasks("sagemaker:createTrainingJob") if not is_sync(task)]
    looks = list(machine.tasks("sagemaker:describeTrainingJob"))
    if machine.resource is None or not loops or not looks:
        return
    if not any(map(_is_about_executions, machine.graph.perhaps_of_type("AWS::Events::Rule"))):
        yield problem(
            *loops[0].path,
            "Resource",
            got="a job that the execution looks at, and nothing that stops it on abort",
            allowed="an EventBridge rule on the execution's status that stops the job, or .sync",
            fix="add a rule for ABORTED and TIMED_OUT whose target stops the job",
        )


@rule(
    "DT714",
    on=StateMachine,
    severity=Severity.WARNING,
    title="An execution that ends when the job begins",
    why="Without .sync, Step Functions only starts the job: the execution succeeds whatever becomes of it.",
    source=_SOURCE,
    bad=_one(Resource="arn:aws:states:::sagemaker:createTrainingJob"),
    good=_one(Resource="arn:aws:states:::sagemaker:createTrainingJob.sync"),
)
def waits(machine: StateMachine) -> Iterator[Finding]:
    """DT714: neither `.sync` nor a task that looks at the job."""
    if any(True for _ in machine.tasks("sagemaker:describeTrainingJob")) or machine.waits_elsewhere:
        return
    if not machine.is_whole:
        raise NotJudgedError(("States",))
    for state in machine.tasks("sagemaker:createTrainingJob"):
        if not is_sync(state) and not state.resource.endswith(".waitForTaskToken"):
            yield problem(
                *state.path,
                "Resource",
                got=state.resource,
                allowed="sagemaker:createTrainingJob.sync, or a loop of describeTrainingJob",
                fix="append .sync",
            )


@rule(
    "DT716",
    on=StateMachine,
    severity=Severity.WARNING,
    title="More looks at the job than an execution may remember",
    why="An execution fails after 25,000 events: a long job outlives it, and is then looked after by nobody.",
    source=_QUOTAS,
    bad=template(
        {"Job": state_machine(_polling(wait=10)), "OnStop": _ON_STOP},
    ),
    good=template(
        {"Job": state_machine(_polling(wait=60)), "OnStop": _ON_STOP},
    ),
)
def few_looks(machine: StateMachine) -> Iterator[Finding]:
    """DT716: the run time that is allowed, divided by the time between two looks."""
    starters = list(machine.tasks("sagemaker:createTrainingJob"))
    if not starters or not any(True for _ in machine.tasks("sagemaker:describeTrainingJob")):
        return
    view = starters[0].arguments
    longest = view.number("StoppingCondition", "MaxRuntimeInSeconds") or 86_400
    for state in machine.states:
        seconds = state.view.number("Seconds") if state.kind == "Wait" else None
        if seconds is not None and seconds > 0:
            events = longest / seconds * _EVENTS_PER_LOOK
            if events > _MOST_EVENTS:
                yield problem(
                    *state.path,
                    "Seconds",
                    got=f"{seconds:g} seconds, about {events:,.0f} events in {longest:,.0f} seconds",
                    allowed=f"at least {longest * _EVENTS_PER_LOOK / _MOST_EVENTS:,.0f} seconds",
                    fix="wait longer between two looks",
                )
