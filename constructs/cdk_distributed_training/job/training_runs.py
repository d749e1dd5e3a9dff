"""What can be done with a job's runs, whoever defined the job."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cdk_distributed_training.enclosing_stack import PartOfStack
from cdk_distributed_training.job.job_grants import JobGrants
from cdk_distributed_training.monitoring.job_events import on_training_job_state_change
from cdk_distributed_training.monitoring.job_metrics import JobMetrics

if TYPE_CHECKING:
    from aws_cdk import aws_events as events
    from aws_cdk import aws_kms as kms


class TrainingRuns(JobMetrics, PartOfStack):
    """Base of jobs: to start, see and stop runs, to measure them, and to hear of them."""

    _job_name: str
    _execution_key: kms.IKey | None = None

    @property
    def _state_machine_name(self) -> str:
        raise NotImplementedError

    @property
    def job_name(self) -> str:
        """With what the names of the runs' training jobs begin, before a hyphen."""
        return self._job_name

    @property
    def grants(self) -> JobGrants:
        """Permissions to start, see and stop runs, and to read their logs."""
        return JobGrants(
            self,
            self.state_machine,
            state_machine_name=self._state_machine_name,
            job_name=self._job_name,
            execution_key=self._execution_key,
        )

    def on_state_change(
        self, id: str, *, target: events.IRuleTarget | None = None, statuses: Sequence[str] = ()
    ) -> events.Rule:
        """A rule for SageMaker's events about this job's runs.

        Training jobs that an engine around the job starts have other names: the engine has an `on_state_change` too.

        Args:
            id: The rule's construct id.
            target: Where the events go; add more with the rule's `add_target`.
            statuses: Only these: `InProgress`, `Completed`, `Failed`, `Stopping`, `Stopped`; all unless given.
        """
        return on_training_job_state_change(self, id, job_name=self._job_name, target=target, statuses=statuses)

    def on_completed(self, id: str, *, target: events.IRuleTarget | None = None) -> events.Rule:
        """A rule for runs whose model is stored; arguments as in `on_state_change`."""
        return self.on_state_change(id, target=target, statuses=["Completed"])

    def on_failed(self, id: str, *, target: events.IRuleTarget | None = None) -> events.Rule:
        """A rule for runs that failed, with SageMaker's reason in the event; arguments as in `on_state_change`."""
        return self.on_state_change(id, target=target, statuses=["Failed"])

    def on_stopped(self, id: str, *, target: events.IRuleTarget | None = None) -> events.Rule:
        """A rule for runs that were stopped, by people or by a time limit; arguments as in `on_state_change`."""
        return self.on_state_change(id, target=target, statuses=["Stopped"])
