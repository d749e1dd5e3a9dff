"""What may be granted on a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_stepfunctions as sfn

from cdk_distributed_training.engines.execution_grants import ExecutionGrants
from cdk_distributed_training.monitoring.training_logs import grant_reading_logs

if TYPE_CHECKING:
    from aws_cdk import aws_kms as kms
    from constructs import Construct


class JobGrants(ExecutionGrants):
    """Permissions for people and services that use a job."""

    def __init__(
        self,
        scope: Construct,
        state_machine: sfn.IStateMachine,
        *,
        state_machine_name: str,
        job_name: str,
        execution_key: kms.IKey | None = None,
    ) -> None:
        """Use the job's property `grants`.

        Args:
            scope: The job.
            state_machine: The state machine of which each execution is one run.
            state_machine_name: Its name, which an imported one does not say.
            job_name: The job's own name, with which the names of its runs begin.
            execution_key: Key that Step Functions encrypts runs with; its own unless given.
        """
        super().__init__(cast("sfn.StateMachine", state_machine))
        self._scope = scope
        self._name = state_machine_name
        self._job_name = job_name
        self._execution_key = execution_key

    def read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to see runs: which there are, how they went, and why one failed; with the key that encrypts them."""
        if self._execution_key is not None:
            self._execution_key.grant_decrypt(grantee)
        return super().read(grantee)

    def read_logs(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to read what the job's runs print, and to look at their training jobs.

        The log group is one of the account's and region's training jobs; the log streams of other jobs stay closed, but
        for their names. Runs that another engine starts have names of the engine's: use its `grants`.
        """
        return grant_reading_logs(
            self._scope,
            lambda actions, resources: self._grant(grantee, actions, resources),
            names=[f"{self._job_name}-*"],
        )

    def _executions(self) -> str:
        return cdk.Stack.of(self._scope).format_arn(
            service="states",
            resource="execution",
            resource_name=f"{self._name}:*",
            arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
        )
