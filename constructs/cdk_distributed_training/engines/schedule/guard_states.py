"""The states that start a run unless one is going.

    Begin -> [Quiet] -> Latest -> Running -> Free -> Start -> Started | NotStarted
                          ^                   |        |
                          +-- Longer - Pause -+-> Skipped  (somebody else has started it)

Guards at the same time start one run: the new run's name follows from the latest one before it, and a name starts one
run. The latest one is read first: a run that another guard starts after that has the very name that this one would
give, whether the look at what is going shows it or not. So a list that is a moment old does no harm either.

A guard that waits, and finds that another run has begun meanwhile, is content with that one.
"""

from __future__ import annotations

from typing import Any

from cdk_distributed_training.engines.call_retries import BRIEF, PATIENT
from cdk_distributed_training.engines.integration import problem
from cdk_distributed_training.engines.job_expressions import expression
from cdk_distributed_training.engines.pauses import first_pause, next_pause
from cdk_distributed_training.engines.run_calls import RunCalls

_POLL_SECONDS = 60


def guard_definition(*, partition: str, calls: RunCalls, quiet: float, waits: bool) -> dict[str, Any]:
    """The whole state machine; its input does not matter.

    Args:
        partition: The AWS partition, for the integrations' ARNs.
        calls: How runs are listed and started.
        quiet: Seconds to wait before anything; 0 for none.
        waits: Whether it waits for the end of a run that is going; otherwise it starts none.
    """
    sdk = f"arn:{partition}:states:::aws-sdk:{calls.service}"
    list_api, list_arguments = calls.listing
    start_api, start_arguments = calls.starting
    busy = "Pause" if waits else "Skipped"
    name = next_name(f'$exists({calls.latest}) ? {calls.latest} : "none"')
    return {
        "Comment": "Starts one run at a time",
        "QueryLanguage": "JSONata",
        "StartAt": "Begin",
        "States": {
            "Begin": {
                "Type": "Pass",
                "Assign": {"runs": dict(calls.runs), "first": "", **first_pause(_POLL_SECONDS)},
                "Next": "Quiet" if quiet else "Latest",
            },
            **({"Quiet": {"Type": "Wait", "Seconds": quiet, "Next": "Latest"}} if quiet else {}),
            "Latest": {
                "Type": "Task",
                "Resource": f"{sdk}:{list_api}",
                "Arguments": dict(list_arguments),
                "Assign": {
                    "name": expression(name),
                    "first": expression(f'$first = "" ? {name} : $first'),
                    "going": expression(calls.latest_going),
                },
                "Retry": PATIENT,
                "Next": "Running",
            },
            "Running": {
                "Type": "Task",
                "Resource": f"{sdk}:{list_api}",
                "Arguments": {**list_arguments, **calls.running_only},
                "Output": expression(f'{{"Running": {calls.running}}}'),
                "Retry": PATIENT,
                "Next": "Free",
            },
            "Free": {
                "Type": "Choice",
                "Choices": [
                    {"Condition": expression("$name != $first"), "Next": "Skipped"},
                    {"Condition": expression("$states.input.Running > 0 or $going"), "Next": busy},
                ],
                "Default": "Start",
            },
            **({"Pause": _pause()[0], "Longer": _pause()[1]} if waits else {}),
            "Start": {
                "Type": "Task",
                "Resource": f"{sdk}:{start_api}",
                "Arguments": dict(start_arguments),
                "Output": expression(f'{{"ExecutionArn": {calls.started}}}'),
                "Retry": [{**BRIEF[0], "ErrorEquals": list(calls.passing_errors)}],
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
    return f'("started-" & $substring($hash({latest}, "SHA-256"), 0, 16))'


def _pause() -> tuple[dict[str, Any], dict[str, Any]]:
    return (
        {"Type": "Wait", "Seconds": expression("$pause"), "Next": "Longer"},
        {"Type": "Pass", "Assign": next_pause(_POLL_SECONDS), "Next": "Latest"},
    )
