"""What a job offers to its app: its parts, permissions and events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from cdk_distributed_training.engines.state_machine import TrainingStateMachine
from cdk_distributed_training.job.imported_training_job import ImportedTrainingJob
from cdk_distributed_training.job.training_guardrails import TrainingGuardrails
from cdk_distributed_training.job.training_principal import TrainingPrincipal
from cdk_distributed_training.job.training_role import TrainingRole
from cdk_distributed_training.job.training_runs import TrainingRuns
from cdk_distributed_training.network.interfaces import ITrainingNetwork


class TrainingJobBase(TrainingRuns):
    """The parts that `DistributedTrainingJob` is made of, once they are made."""

    _network: ITrainingNetwork
    _role: iam.IRole
    _training_role: TrainingRole
    _output_bucket: s3.IBucket
    _engine: TrainingStateMachine
    _tags: cdk.TagManager
    _request: Mapping[str, Any]
    _guardrails: TrainingGuardrails | None = None

    @property
    def state_machine(self) -> sfn.StateMachine:
        """The state machine of which each execution is one run."""
        return self._engine.state_machine

    @property
    def _state_machine_name(self) -> str:
        return self.state_machine.state_machine_name

    @staticmethod
    def from_state_machine_arn(scope: Construct, id: str, state_machine_arn: str, *, job_name: str) -> TrainingRuns:
        """A job that another app or stack defined, to be started, seen, measured and heard of here.

        Args:
            scope: The parent construct.
            id: The construct id.
            state_machine_arn: ARN of its state machine.
            job_name: Its `job_name`, with which the names of its runs begin.
        """
        return ImportedTrainingJob(scope, id, state_machine_arn=state_machine_arn, job_name=job_name)

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
    def statements(self) -> list[iam.PolicyStatement]:
        """The same as statements of the CDK's, for engines that run the job by a role of their own."""
        return cast("TrainingPrincipal", self._training_role.grantee).statements

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
    def guardrails(self) -> TrainingGuardrails:
        """Bounds in which no other training jobs fit than such as this one; made when they are first asked for.

        Attach their `managed_policy` to whoever may start training jobs. `TrainingGuardrails` makes wider ones.
        """
        if self._guardrails is None:
            self._guardrails = TrainingGuardrails.of_request(
                self, "Guardrails", request=self._request, network=self._network
            )
        return self._guardrails

    @property
    def tags(self) -> cdk.TagManager:
        """Tags of the runs' training jobs; `Tags.of(job).add(...)` adds to them."""
        return self._tags
