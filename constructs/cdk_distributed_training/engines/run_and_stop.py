"""Two state machines: each execution of one is a run, and the other stops what an execution has left behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from aws_cdk import aws_kms as kms
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from cdk_distributed_training.engines.ended_execution import stop_with_execution
from cdk_distributed_training.engines.execution_log import create_execution_log
from cdk_distributed_training.engines.machine import Machine
from cdk_distributed_training.engines.statement import AnyStatement


class States(NamedTuple):
    """What one of the state machines does, and may do.

    Attributes:
        definition: The definition; tokens may be anywhere in it.
        statements: What its states may do.
        wildcards: Why some of these statements have wildcards.
    """

    definition: Mapping[str, Any]
    statements: Sequence[AnyStatement]
    wildcards: str


def run_and_stop(
    scope: Construct, *, run: States, stop: States, encryption_key: kms.IKey | None, data_key: kms.IKey | None = None
) -> sfn.StateMachine:
    """Make both, and return the one of which each execution is a run.

    Construct ids: `Job`, `Stop`, `Ended`, `EndedRole`, `LogGroup`.

    Args:
        scope: The engine.
        run: What a run does.
        stop: What stops it; its input is `execution_arn` and `execution_name`.
        encryption_key: Key for the log of both; CloudWatch Logs' own if `None`.
        data_key: Key for what Step Functions keeps: definitions, inputs, outputs, histories; its own unless given.
    """
    log_group = create_execution_log(scope, encryption_key=encryption_key)
    runs, stops = (
        Machine(scope, id, **states._asdict(), log_group=log_group, data_key=data_key).state_machine
        for id, states in (("Job", run), ("Stop", stop))
    )
    stop_with_execution(scope, of=runs, start=stops)
    return runs
