"""What may be granted on a state machine of which each execution is a run."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_stepfunctions as sfn


class ExecutionGrants:
    """Permissions for people and services that start, watch or stop runs."""

    def __init__(self, state_machine: sfn.StateMachine) -> None:
        """Use the property `grants` of what runs."""
        self._state_machine = state_machine

    def start(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to start runs."""
        return self._grant(grantee, ["states:StartExecution"], [self._state_machine.state_machine_arn])

    def read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to see runs: which there are, how they went, and why one failed."""
        self._grant(
            grantee,
            ["states:DescribeStateMachine", "states:ListExecutions"],
            [self._state_machine.state_machine_arn],
        )
        return self._grant(grantee, ["states:DescribeExecution", "states:GetExecutionHistory"], [self._executions()])

    def stop(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to stop runs; a stopped execution stops what it started."""
        return self._grant(grantee, ["states:StopExecution"], [self._executions()])

    def _executions(self) -> str:
        machine = self._state_machine
        return cdk.Stack.of(machine).format_arn(
            service="states",
            resource="execution",
            resource_name=f"{machine.state_machine_name}:*",
            arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
        )

    def _grant(self, grantee: iam.IGrantable, actions: list[str], resources: list[str]) -> iam.Grant:
        return iam.Grant.add_to_principal(grantee=grantee, actions=actions, resource_arns=resources)
