"""What every job has that is defined in this app, be it on machines of its own choice or on SageMaker's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
from aws_cdk import aws_iam as iam

from cdk_distributed_training.checks.annotations import annotate_warnings
from cdk_distributed_training.checks.findings import Finding, raise_errors
from cdk_distributed_training.engines.integration import Integration
from cdk_distributed_training.engines.state_machine import TrainingStateMachine
from cdk_distributed_training.job.default_job_name import default_job_name
from cdk_distributed_training.job.job_names import shared_names
from cdk_distributed_training.job.job_tags import tag_manager
from cdk_distributed_training.job.request_findings import request_findings
from cdk_distributed_training.job.training_role import TrainingRole
from cdk_distributed_training.job.training_runs import TrainingRuns
from cdk_distributed_training.request import limits
from cdk_distributed_training.request.training_job_request import TrainingJobRequest
from cdk_distributed_training.tokens import known

if TYPE_CHECKING:
    from aws_cdk import aws_kms as kms
    from aws_cdk import aws_s3 as s3
    from aws_cdk import aws_stepfunctions as sfn


class DefinedTrainingJob(TrainingRuns):
    """A request, the role that it runs as, the bucket for its models, and the state machine that sends it."""

    _training_role: TrainingRole
    _output_bucket: s3.IBucket
    _request: Mapping[str, Any]
    _engine: TrainingStateMachine

    def _begin(
        self,
        *,
        job_name: str | None,
        tags: Mapping[str, str] | None,
        permissions_boundary: iam.IManagedPolicy | None,
        execution_key: kms.IKey | None,
    ) -> None:
        """Name the job, and bound what is made for it."""
        if permissions_boundary is not None:
            iam.PermissionsBoundary.of(self).apply(permissions_boundary)
        self._job_name = job_name if job_name is not None else default_job_name(self)
        annotate_warnings(self, shared_names(self, self._job_name))
        self._execution_key = execution_key
        self._tags = tag_manager(self._job_name, tags or {}, of_stack=self._stack.tags)

    @property
    def state_machine(self) -> sfn.StateMachine:
        """The state machine of which each execution is one run."""
        return self._engine.state_machine

    @property
    def request(self) -> Mapping[str, Any]:
        """The `CreateTrainingJob` request without a name, for engines that wrap the job; tokens may be in it."""
        return self._request

    @property
    def role(self) -> iam.IRole:
        """The role that the job runs as."""
        return self._training_role.role

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
        return self.role.grant_principal

    @property
    def output_bucket(self) -> s3.IBucket:
        """The bucket for models and checkpoints."""
        return self._output_bucket

    @property
    def tags(self) -> cdk.TagManager:
        """Tags of the runs' training jobs; `Tags.of(job).add(...)` adds to them."""
        return self._tags

    @property
    def _state_machine_name(self) -> str:
        return self.state_machine.state_machine_name

    def _judge(self, findings: Iterable[Finding]) -> None:
        """Refuse what cannot run, and warn of the rest."""
        listed = list(findings)
        raise_errors(listed, where=lambda: self.node.path)
        annotate_warnings(self, listed)

    def _render(self, request: TrainingJobRequest, *, told: Iterable[Finding], besides: Iterable[Finding] = ()) -> None:
        """Render the request, and judge it as a whole.

        Args:
            request: The request.
            told: What has been found before, of which nothing is said again.
            besides: What is found with it.
        """
        self._request = request.render()
        rules = {finding.rule for finding in told}
        found = request_findings(request, self._request, region=self._stack.region)
        self._judge([*besides, *(finding for finding in found if finding.rule not in rules)])

    def _make_runs(
        self,
        *,
        longest_run: float,
        poll_interval: float,
        encryption_key: kms.IKey | None,
        integration: Integration = "sdk",
    ) -> None:
        self._engine = TrainingStateMachine(
            self,
            "StateMachine",
            request=self._request,
            job_name=self._job_name,
            training_role=self.role,
            longest_run=longest_run if known(longest_run) else limits.LONGEST_RUNTIME_SECONDS,
            poll_interval=int(poll_interval),
            integration=integration,
            encryption_key=self._execution_key or encryption_key,
            data_key=self._execution_key,
        )
