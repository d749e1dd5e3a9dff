"""What happens when an execution ends before what it started."""

from __future__ import annotations

import functools

from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from cdk_distributed_training.checks.acknowledgements import acknowledge
from cdk_distributed_training.enclosing_stack import enclosing_stack
from cdk_distributed_training.engines.service_role import ServiceRole
from cdk_distributed_training.engines.statement import Statement


def stop_with_execution(scope: Construct, *, of: sfn.IStateMachine, start: sfn.IStateMachine) -> None:
    """Start one state machine when an execution of another was aborted or timed out, or failed.

    Its input is `{"execution_arn": ..., "execution_name": ...}`. Construct ids: `Ended`, `EndedRole`.

    Args:
        scope: The engine.
        of: The state machine with the executions.
        start: The state machine that stops what is left of one.
    """
    role = ServiceRole(
        scope,
        "EndedRole",
        service="events.amazonaws.com",
        source_arn=enclosing_stack(scope).format_arn(service="events", resource="rule", resource_name="*"),
        statements=[Statement(actions=["states:StartExecution"], resources=[start.state_machine_arn])],
    )
    rule = events.Rule(
        scope,
        "Ended",
        description="Stops the training job of an execution that ended without it",
        event_pattern=events.EventPattern(
            source=["aws.states"],
            detail_type=["Step Functions Execution Status Change"],
            detail={
                "status": ["ABORTED", "FAILED", "TIMED_OUT"],
                "stateMachineArn": [of.state_machine_arn],
            },
        ),
        targets=[
            targets.SfnStateMachine(
                start,
                role=role.role,
                input=_execution(),
            )
        ],
    )
    acknowledge(
        rule,
        "Serverless-EventBusDLQ",
        "EventBridge tries for a day; a job that nobody stops still ends by max_runtime, and nobody reads a queue",
    )


@functools.cache
def _execution() -> events.RuleTargetInput:
    """What the event says of the execution; one value for all rules."""
    return events.RuleTargetInput.from_object(
        {
            "execution_arn": events.EventField.from_path("$.detail.executionArn"),
            "execution_name": events.EventField.from_path("$.detail.name"),
        }
    )
