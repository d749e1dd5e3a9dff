"""The states that start a run of another state machine unless one is going.

    Begin -> [Quiet] -> Running -> Free -> Latest -> Start -> Started | NotStarted
                          ^         |                  |
                          +- Pause -+-> Skipped <------+  (somebody else has started it)

Two guards at a time start one run: the new execution's name follows from the latest one before it, and Step Functions
takes a name once. A list that is a moment old, which Step Functions may give, leads to a name that is taken, and so to
no second run either.

Source: https://docs.aws.amazon.com/step-functions/latest/apireference/API_StartExecution.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cdk_distributed_training.engines.call_retries import BRIEF, PATIENT
from cdk_distributed_training.engines.integration import problem
from cdk_distributed_training.engines.job_expressions import expression
from cdk_distributed_training.engines.pauses import first_pause, next_pause

_POLL_SECONDS = 60


def guard_definition(
    *, partition: str, state_machine_arn: str, given: Mapping[str, Any], quiet: float, waits: bool
) -> dict[str, Any]:
    """The whole state machine; its input does not matter.

    Args:
        partition: The AWS partition, for the integrations' ARNs.
        state_machine_arn: The state machine of which one run at a time is started.
        given: The input of the run.
        quiet: Seconds to wait before anything; 0 for none.
        waits: Whether it waits for the end of a run that is going; otherwise it starts none.
    """
    sdk = f"arn:{partition}:states:::aws-sdk:sfn"
    machine = {"StateMachineArn": expression("$machine"), "MaxResults": 1}
    busy = "Pause" if waits else "Skipped"
    latest = "$states.result.Executions[0].ExecutionArn"
    return {
        "Comment": "Starts one run at a time",
        "QueryLanguage": "JSONata",
        "StartAt": "Begin",
        "States": {
            "Begin": {
                "Type": "Pass",
                "Assign": {"machine": state_machine_arn, "given": dict(given), **first_pause(_POLL_SECONDS)},
                "Next": "Quiet" if quiet else "Running",
            },
            **({"Quiet": {"Type": "Wait", "Seconds": quiet, "Next": "Running"}} if quiet else {}),
            "Running": {
                "Type": "Task",
                "Resource": f"{sdk}:listExecutions",
                "Arguments": {**machine, "StatusFilter": "RUNNING"},
                "Output": expression('{"Running": $count($states.result.Executions)}'),
                "Retry": PATIENT,
                "Next": "Free",
            },
            "Free": {
                "Type": "Choice",
                "Choices": [{"Condition": expression("$states.input.Running > 0"), "Next": busy}],
                "Default": "Latest",
            },
            **({"Pause": _pause()[0], "Longer": _pause()[1]} if waits else {}),
            "Latest": {
                "Type": "Task",
                "Resource": f"{sdk}:listExecutions",
                "Arguments": machine,
                "Assign": {"name": expression(next_name(f'$exists({latest}) ? {latest} : "none"'))},
                "Retry": BRIEF,
                "Next": "Start",
            },
            "Start": {
                "Type": "Task",
                "Resource": f"{sdk}:startExecution",
                "Arguments": {
                    "StateMachineArn": expression("$machine"),
                    "Name": expression("$name"),
                    "Input": expression("$string($given)"),
                },
                "Output": expression('{"ExecutionArn": $states.result.ExecutionArn}'),
                "Retry": [{**BRIEF[0], "ErrorEquals": ["Sfn.SfnException", "Sfn.SdkClientException"]}],
                "Catch": [
                    {
                        "ErrorEquals": ["States.ALL"],
                        "Assign": problem("errorOutput", "Error", "Cause"),
                        "Next": "Taken",
                    }
                ],
                "Next": "Started",
            },
            "Taken": {
                "Type": "Choice",
                "Choices": [
                    {
                        "Condition": expression('$contains($problem.error & " " & $problem.cause, /AlreadyExists/)'),
                        "Next": "Skipped",
                    }
                ],
                "Default": "NotStarted",
            },
            "Started": {"Type": "Succeed"},
            "Skipped": {"Type": "Succeed"},
            "NotStarted": {
                "Type": "Fail",
                "Error": "TrainingRunNotStarted",
                "Cause": expression('$problem.error & ": " & $problem.cause'),
            },
        },
    }


def next_name(latest: str) -> str:
    """JSONata for the name of the run after the latest one.

    Args:
        latest: JSONata for the latest execution's ARN.
    """
    return f'"started-" & $substring($hash({latest}, "SHA-256"), 0, 16)'


def _pause() -> tuple[dict[str, Any], dict[str, Any]]:
    return (
        {"Type": "Wait", "Seconds": expression("$pause"), "Next": "Longer"},
        {"Type": "Pass", "Assign": next_pause(_POLL_SECONDS), "Next": "Running"},
    )
