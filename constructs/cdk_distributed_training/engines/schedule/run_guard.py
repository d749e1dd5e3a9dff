"""A state machine that starts runs, one at a time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

import aws_cdk as cdk
from aws_cdk import aws_kms as kms
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from cdk_distributed_training.checks.findings import Finding, raise_errors
from cdk_distributed_training.checks.rules.engines import in_range
from cdk_distributed_training.checks.rules.keywords import unsettled_name
from cdk_distributed_training.checks.rules.request import entries
from cdk_distributed_training.engines.execution_log import create_execution_log
from cdk_distributed_training.engines.machine import Machine
from cdk_distributed_training.engines.run_calls import RunCalls, state_machine_runs
from cdk_distributed_training.engines.run_elsewhere import run_elsewhere
from cdk_distributed_training.engines.schedule.guard_states import guard_definition
from cdk_distributed_training.engines.statement import Statement
from cdk_distributed_training.engines.training_definition import IListedTraining, IStartableTraining
from cdk_distributed_training.request import limits
from cdk_distributed_training.texts import texts
from cdk_distributed_training.tokens import known

_RESOURCES = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ResourceConfig.html"
WhileRunning = Literal["skip", "wait"]


class RunGuard(Construct):
    """Starts a run of a job unless one is going; construct ids: `Machine`, `LogGroup`."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        job: IStartableTraining | IListedTraining,
        hyperparameters: Mapping[str, Any] | None,
        instance_count: float | None,
        quiet: cdk.Duration | None,
        while_running: WhileRunning,
        starter: str,
        encryption_key: kms.IKey | None,
    ) -> None:
        """Make the state machine.

        Args:
            scope: The parent construct.
            id: The construct id.
            job: What runs.
            hyperparameters: Overrides of each run.
            instance_count: Number of machines of each run; the job's own if `None`.
            quiet: Time to wait before a start.
            while_running: What happens while a run is going: `skip` starts none, `wait` starts one after it.
            starter: Who starts the runs, as a sentence without its end, for `dtrain` to say.
            encryption_key: Key for the log; CloudWatch Logs' own if `None`.
        """
        super().__init__(scope, id)
        stack = cdk.Stack.of(self)
        overrides, findings = _overrides(self, hyperparameters or {}, instance_count)
        raise_errors(findings, where=scope.node.path)
        calls = _calls(job, overrides, instance_count)
        run_elsewhere(scope, runner=starter, job=job, hyperparameters=overrides, instance_count=instance_count)
        self._machine = Machine(
            self,
            "Machine",
            definition=guard_definition(
                partition=stack.partition,
                calls=calls,
                quiet=0 if quiet is None else quiet.to_seconds(integral=False),
                waits=while_running == "wait",
            ),
            statements=[Statement(actions=list(calls.actions), resources=[calls.resource])],
            wildcards="none of its own",
            log_group=create_execution_log(self, encryption_key=encryption_key),
        )

    @property
    def state_machine(self) -> sfn.StateMachine:
        """The state machine that starts runs."""
        return self._machine.state_machine


def _calls(
    job: IStartableTraining | IListedTraining, hyperparameters: Mapping[str, Any], instance_count: float | None
) -> RunCalls:
    if isinstance(job, IListedTraining):
        return job.run_calls(hyperparameters=hyperparameters, instance_count=instance_count)
    given: dict[str, Any] = {"hyperparameters": dict(hyperparameters)} if hyperparameters else {}
    if instance_count is not None:
        given["instance_count"] = instance_count
    return state_machine_runs(job.state_machine.state_machine_arn, given)


def _overrides(
    scope: Construct, hyperparameters: Mapping[str, Any], instance_count: float | None
) -> tuple[dict[str, Any], list[Finding]]:
    """The hyperparameters as text, and what no run could have.

    A number that is a token stays one: an execution turns it into text itself.
    """
    findings = list(unsettled_name("hyperparameters", hyperparameters))
    given, unfit = texts(scope, "hyperparameters", hyperparameters)
    numbers = {name: value for name, value in hyperparameters.items() if isinstance(value, float) and not known(value)}
    literal = {name: value for name, value in given.items() if known([name, value])}
    findings += [*unfit, *entries("hyperparameters", literal, limits.HYPERPARAMETERS)]
    if instance_count is not None and known(instance_count):
        findings += in_range("instance_count", instance_count, 1, math.inf, _RESOURCES)
    return {**given, **numbers}, findings
