"""How runs are listed and started by Step Functions, whatever runs them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cdk_distributed_training.engines.job_expressions import expression


@dataclass(frozen=True, kw_only=True)
class RunCalls:
    """Three calls, in the spelling of Step Functions; a variable `$runs` holds what `runs` is.

    Attributes:
        service: The service's name in `aws-sdk:` integrations.
        runs: Literals that the calls need; they never become part of an expression.
        listing: API and arguments that list runs, the latest first.
        running_only: Further arguments, with which only runs that are going are listed.
        running: JSONata for the number of runs that are going, of the list.
        latest: JSONata for the latest run's ARN, of the list.
        latest_going: JSONata for whether the latest run is going, of the list.
        starting: API and arguments that start a run, with `$name` for what makes the start happen once.
        started: JSONata for the new run's ARN.
        passing_errors: Errors of the start that may pass, as Step Functions names them.
        actions: The actions that the calls are.
        resource: ARN of what they are about.
    """

    service: str
    runs: Mapping[str, Any]
    listing: tuple[str, Mapping[str, Any]]
    running_only: Mapping[str, Any]
    running: str
    latest: str
    latest_going: str
    starting: tuple[str, Mapping[str, Any]]
    started: str
    passing_errors: tuple[str, ...]
    actions: tuple[str, ...]
    resource: str


def state_machine_runs(state_machine_arn: str, given: Mapping[str, Any]) -> RunCalls:
    """Executions of a state machine, of which a name is taken once.

    Source: https://docs.aws.amazon.com/step-functions/latest/apireference/API_StartExecution.html

    Args:
        state_machine_arn: The state machine.
        given: The input of each.
    """
    machine = {"StateMachineArn": expression("$runs.machine")}
    return RunCalls(
        service="sfn",
        runs={"machine": state_machine_arn, "input": dict(given)},
        listing=("listExecutions", {**machine, "MaxResults": 1}),
        running_only={"StatusFilter": "RUNNING"},
        running="$count($states.result.Executions)",
        latest="$states.result.Executions[0].ExecutionArn",
        latest_going='$states.result.Executions[0].Status = "RUNNING"',
        starting=(
            "startExecution",
            {**machine, "Name": expression("$name"), "Input": expression("$string($runs.input)")},
        ),
        started="$states.result.ExecutionArn",
        passing_errors=("Sfn.SdkClientException", "Sfn.SfnException"),
        actions=("states:ListExecutions", "states:StartExecution"),
        resource=state_machine_arn,
    )
