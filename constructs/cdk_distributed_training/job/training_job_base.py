"""What a job offers to its app: its parts, permissions and events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from cdk_distributed_training.engines.state_machine import TrainingStateMachine
from cdk_distributed_training.job.job_grants import JobGrants
from cdk_distributed_training.job.training_role import TrainingRole
from cdk_distributed_training.monitoring.job_events import on_training_job_state_change
from cdk_distributed_training.network.interfaces import ITrainingNetwork


class TrainingJobBase(Construct):
    """The parts that `DistributedTrainingJob` is made of, once they are made."""

    _job_name: str
    _network: ITrainingNetwork
    _role: iam.IRole
    _training_role: TrainingRole
    _output_bucket: s3.IBucket
    _engine: TrainingStateMachine
    _tags: cdk.TagManager
    _request: Mapping[str, Any]

    @property
    def state_machine(self) -> sfn.StateMachine:
        """The state machine of which each execution is one run."""
        return self._engine.state_machine

    @property
    def job_name(self) -> str:
        """With what the names of the runs' training jobs begin, before a hyphen."""
        return self._job_name

    @property
    def request(self) -> Mapping[str, Any]:
        """The `CreateTrainingJob` request without a name, for engines that wrap the job; tokens may be in it."""
        return self._request

    @property
    def role(self) -> iam.IRole:
        """The role that the job runs as."""
        return self._role

    @property
    def required_statements(self) -> list[dict[str, Any]]:
        """What the role must be allowed, as an IAM policy has it; values that deployment decides are intrinsics.

        The job attaches a policy with exactly these statements. To a role that may not be changed nothing can be
        attached; there they are for the role's owner, and a warning (DT613) says so.
        """
        return self._training_role.required_statements

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """The principal of the role, so that other constructs can grant the job their use."""
        return self._role.grant_principal

    @property
    def network(self) -> ITrainingNetwork:
        """Where the machines are."""
        return self._network

    @property
    def connections(self) -> ec2.Connections:
        """The connections of the machines' security group."""
        return self._network.connections

    @property
    def output_bucket(self) -> s3.IBucket:
        """The bucket for models and checkpoints."""
        return self._output_bucket

    @property
    def grants(self) -> JobGrants:
        """Permissions to start, see and stop runs."""
        return JobGrants(self.state_machine)

    def on_state_change(
        self, id: str, *, target: events.IRuleTarget | None = None, statuses: Sequence[str] = ()
    ) -> events.Rule:
        """A rule for SageMaker's events about this job's runs.

        Args:
            id: The rule's construct id.
            target: Where the events go; add more with the rule's `add_target`.
            statuses: Only these, such as `Completed`, `Failed` or `Stopped`; all unless given.
        """
        return on_training_job_state_change(self, id, job_name=self._job_name, target=target, statuses=statuses)

    @property
    def tags(self) -> cdk.TagManager:
        """Tags of the runs' training jobs; `Tags.of(job).add(...)` adds to them."""
        return self._tags
