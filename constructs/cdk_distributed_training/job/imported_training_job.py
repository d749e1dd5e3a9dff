"""A job that another app or stack defined."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from cdk_distributed_training.job.training_runs import TrainingRuns


class ImportedTrainingJob(TrainingRuns):
    """A job known by its state machine; `DistributedTrainingJob.from_state_machine_arn` makes one."""

    def __init__(self, scope: Construct, id: str, *, state_machine_arn: str, job_name: str) -> None:
        """Use `DistributedTrainingJob.from_state_machine_arn`."""
        super().__init__(scope, id)
        self._job_name = job_name
        self._state_machine = sfn.StateMachine.from_state_machine_arn(self, "StateMachine", state_machine_arn)
        parts = cdk.Stack.of(self).split_arn(state_machine_arn, cdk.ArnFormat.COLON_RESOURCE_NAME)
        assert parts.resource_name is not None  # noqa: S101  that is what the format says
        self._name = parts.resource_name

    @property
    def state_machine(self) -> sfn.IStateMachine:
        """The state machine of which each execution is one run."""
        return self._state_machine

    @property
    def _state_machine_name(self) -> str:
        return self._name
