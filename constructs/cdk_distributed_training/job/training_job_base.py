"""What a job on machines offers to its app, besides its runs: permissions, network and bounds."""

from __future__ import annotations

from typing import cast

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk_distributed_training.job.defined_training_job import DefinedTrainingJob
from cdk_distributed_training.job.imported_training_job import ImportedTrainingJob
from cdk_distributed_training.job.training_guardrails import TrainingGuardrails
from cdk_distributed_training.job.training_principal import TrainingPrincipal
from cdk_distributed_training.job.training_runs import TrainingRuns
from cdk_distributed_training.network.interfaces import ITrainingNetwork


class TrainingJobBase(DefinedTrainingJob):
    """The parts that `DistributedTrainingJob` is made of, once they are made."""

    _network: ITrainingNetwork
    _guardrails: TrainingGuardrails | None = None

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
    def statements(self) -> list[iam.PolicyStatement]:
        """The same as statements of the CDK's, for engines that run the job by a role of their own."""
        return cast("TrainingPrincipal", self._training_role.grantee).statements

    @property
    def network(self) -> ITrainingNetwork:
        """Where the machines are."""
        return self._network

    @property
    def connections(self) -> ec2.Connections:
        """The connections of the machines' security group.

        They belong to the network's stack. With a group of a stack that itself needs the network's, write
        `group.connections.allow_from(job, ...)`, which puts both rules into the group's stack and so makes no circle.
        """
        return self._network.connections

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
