"""Executions of a deployed job's state machine."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from cdk_distributed_training.local.aws import clients
from cdk_distributed_training.local.errors import LocalModeError

_LOOK = 0.2  # seconds


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How an execution ended.

    Attributes:
        arn: The execution.
        status: SUCCEEDED, FAILED, ABORTED or TIMED_OUT.
        error: The error's name; empty if there is none.
        cause: The error's cause; empty if there is none.
        output: What the execution returned; `None` unless it succeeded.
    """

    arn: str
    status: str
    error: str
    cause: str
    output: Any


@clients.answering()
def job_state_machine(stack: str, job_name: str) -> str:
    """ARN of the state machine that runs a job, found among a stack's resources.

    Args:
        stack: The stack's name.
        job_name: The job's own name.

    Raises:
        LocalModeError: The stack has no such machine.
    """
    states = clients.client("stepfunctions")
    pages = clients.client("cloudformation").get_paginator("list_stack_resources").paginate(StackName=stack)
    for page in pages:
        for resource in page["StackResourceSummaries"]:
            if resource["ResourceType"] != "AWS::StepFunctions::StateMachine":
                continue
            arn: str = resource["PhysicalResourceId"]
            definition = json.loads(states.describe_state_machine(stateMachineArn=arn)["definition"])
            defaults = definition["States"].get("Defaults", {}).get("Assign", {}).get("defaults", {})
            if defaults.get("job_name") == job_name:
                return arn
    raise LocalModeError(f"stack {stack} has no state machine that runs {job_name}")


@clients.answering()
def physical_id(stack: str, logical_id: str) -> str:
    """What a deployed stack made of a resource: of a state machine, its ARN.

    Args:
        stack: The stack's name.
        logical_id: The resource's id in the template.
    """
    formation = clients.client("cloudformation")
    told = formation.describe_stack_resource(StackName=stack, LogicalResourceId=logical_id)
    return str(told["StackResourceDetail"]["PhysicalResourceId"])


@clients.answering()
def start(machine: str, *, name: str, given: Any) -> str:
    """Start an execution.

    Args:
        machine: ARN of the state machine.
        name: The execution's name.
        given: The input, or its text.

    Returns:
        The execution's ARN.
    """
    text = given if isinstance(given, str) else json.dumps(given)
    started = clients.client("stepfunctions").start_execution(stateMachineArn=machine, name=name, input=text)
    return str(started["executionArn"])


@clients.answering()
def wait(execution: str, *, while_waiting: Callable[[], None] = lambda: None) -> Ended:
    """Wait for an execution's end.

    Args:
        execution: The execution's ARN.
        while_waiting: Called between two looks.
    """
    states = clients.client("stepfunctions")
    while True:
        told: Mapping[str, Any] = states.describe_execution(executionArn=execution)
        if told["status"] != "RUNNING":
            break
        while_waiting()
        time.sleep(_LOOK)
    return Ended(
        arn=execution,
        status=told["status"],
        error=told.get("error", ""),
        cause=told.get("cause", ""),
        output=json.loads(told["output"]) if "output" in told else None,
    )


@clients.answering()
def stop(execution: str) -> None:
    """Abort an execution.

    Args:
        execution: The execution's ARN.
    """
    clients.client("stepfunctions").stop_execution(executionArn=execution, cause="stopped by its owner")
