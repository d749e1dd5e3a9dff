"""What an engine offers to its app about its runs: permissions, events and metrics, in the words of a job."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aws_cdk import aws_iam as iam
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from cdk_distributed_training.engines.execution_grants import ExecutionGrants
from cdk_distributed_training.monitoring.execution_metrics import ExecutionMetrics
from cdk_distributed_training.monitoring.run_events import RunEvents, execution_events
from cdk_distributed_training.monitoring.training_logs import grant_reading_logs

if TYPE_CHECKING:
    from aws_cdk import aws_events as events


class EngineRuns(ExecutionMetrics, Construct):
    """Base of engines: to hear of runs, and to measure them.

    The training jobs of an engine have names of the service's own. So events are those of the service that runs the
    engine, about its executions, under the statuses of a training job.
    """

    def _events(self) -> RunEvents:
        raise NotImplementedError

    def on_state_change(
        self, id: str, *, target: events.IRuleTarget | None = None, statuses: Sequence[str] = ()
    ) -> events.Rule:
        """A rule for events about this engine's runs; those of the job's own state machine are not among them.

        Args:
            id: The rule's construct id.
            target: Where the events go; add more with the rule's `add_target`.
            statuses: Only these: `InProgress`, `Completed`, `Failed`, `Stopped`; all unless given.

        Raises:
            ConfigurationError: The engine's service does not tell of one of them.
        """
        return self._events().rule(self, id, target=target, statuses=statuses)

    def on_completed(self, id: str, *, target: events.IRuleTarget | None = None) -> events.Rule:
        """A rule for runs that succeeded; arguments as in `on_state_change`."""
        return self.on_state_change(id, target=target, statuses=["Completed"])

    def on_failed(self, id: str, *, target: events.IRuleTarget | None = None) -> events.Rule:
        """A rule for runs that failed, or ended by a time limit; arguments as in `on_state_change`."""
        return self.on_state_change(id, target=target, statuses=["Failed"])

    def on_stopped(self, id: str, *, target: events.IRuleTarget | None = None) -> events.Rule:
        """A rule for runs that people stopped; arguments as in `on_state_change`."""
        return self.on_state_change(id, target=target, statuses=["Stopped"])


class MachineRuns(EngineRuns):
    """Base of engines of which each execution of a state machine is one run."""

    _state_machine: sfn.StateMachine
    _training_jobs: Sequence[str]

    @property
    def state_machine(self) -> sfn.StateMachine:
        """The state machine of which each execution is one run."""
        return self._state_machine

    @property
    def grants(self) -> EngineGrants:
        """Permissions to start, see and stop runs, and to read their logs."""
        return EngineGrants(self.state_machine, training_jobs=self._training_jobs)

    def _events(self) -> RunEvents:
        return execution_events(self.state_machine.state_machine_arn)


class EngineGrants(ExecutionGrants):
    """Permissions for people and services that use an engine."""

    def __init__(self, state_machine: sfn.StateMachine, *, training_jobs: Sequence[str]) -> None:
        """Use the engine's property `grants`.

        Args:
            state_machine: The state machine of which each execution is one run.
            training_jobs: Patterns of the names that the engine gives to training jobs.
        """
        super().__init__(state_machine)
        self._training_jobs = training_jobs

    def read_logs(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to read what the runs print, and to look at their training jobs.

        A queue names training jobs `AWSBatch...`: there, that is the logs of all queues of the account and region.
        """
        return grant_reading_logs(
            self._state_machine,
            lambda actions, resources: self._grant(grantee, actions, resources),
            names=self._training_jobs,
        )
