"""A state machine as this library makes them: logged, traced, with a role of exactly its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from cdk_distributed_training.enclosing_stack import EnclosingStack, PartOfStack
from cdk_distributed_training.engines.service_role import ServiceRole
from cdk_distributed_training.engines.statement import AnyStatement, Statement

# Step Functions asks for these on every resource:
# https://docs.aws.amazon.com/step-functions/latest/dg/cw-logs.html, .../xray-iam.html
_LOG_DELIVERY = (
    "logs:CreateLogDelivery",
    "logs:DeleteLogDelivery",
    "logs:DescribeLogGroups",
    "logs:DescribeResourcePolicies",
    "logs:GetLogDelivery",
    "logs:ListLogDeliveries",
    "logs:PutResourcePolicy",
    "logs:UpdateLogDelivery",
)
_TRACING = (
    "xray:GetSamplingRules",
    "xray:GetSamplingTargets",
    "xray:PutTelemetryRecords",
    "xray:PutTraceSegments",
)


class Machine(PartOfStack):
    """A state machine from a definition in the Amazon States Language.

    All events are logged, without the data that passes through, which may hold what nobody should read in a log.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        definition: Mapping[str, Any],
        statements: Sequence[AnyStatement],
        wildcards: str,
        log_group: logs.ILogGroup,
        data_key: kms.IKey | None = None,
    ) -> None:
        """Make the state machine.

        Args:
            scope: The parent construct.
            id: The construct id.
            definition: The definition; tokens may be anywhere in it.
            statements: What its states may do.
            wildcards: Why some of these statements have wildcards.
            log_group: Where its events are logged.
            data_key: Key for the definition and for all that Step Functions keeps of executions; its own unless given.
        """
        super().__init__(scope, id)
        machines = self._stack.format_arn(service="states", resource="stateMachine", resource_name="*", separator=":")
        role = ServiceRole(
            self,
            "Role",
            service="states.amazonaws.com",
            source_arn=machines,
            statements=[
                *statements,
                Statement(actions=_LOG_DELIVERY, resources=["*"]),
                Statement(actions=_TRACING, resources=["*"]),
                *([] if data_key is None else _use_of_key(data_key, self._stack, machines=machines)),
            ],
            wildcards=f"{wildcards}; log delivery and tracing know no resources",
        )
        self._state_machine = sfn.StateMachine(
            self,
            "Resource",
            definition_body=sfn.DefinitionBody.from_string(self._stack.to_json_string(definition)),
            role=role.role,
            tracing_enabled=True,
            logs=sfn.LogOptions(destination=log_group, level=sfn.LogLevel.ALL, include_execution_data=False),
            encryption_configuration=None
            if data_key is None
            else sfn.CustomerManagedEncryptionConfiguration(kms_key=data_key),
        )

    @property
    def state_machine(self) -> sfn.StateMachine:
        """The state machine itself."""
        return self._state_machine


def _use_of_key(key: kms.IKey, stack: EnclosingStack, *, machines: str) -> list[Statement]:
    """What an execution needs of the key that encrypts it, and the delivery of its log.

    CDK's own statement names the state machine, whose name is empty where CloudFormation makes it up.
    Source: https://docs.aws.amazon.com/step-functions/latest/dg/encryption-at-rest.html
    """
    deliveries = stack.format_arn(service="logs", resource="*")
    return [
        Statement(
            actions=["kms:Decrypt", "kms:GenerateDataKey"],
            resources=[key.key_arn],
            conditions={"StringLike": {"kms:EncryptionContext:aws:states:stateMachineArn": machines}},
        ),
        Statement(
            actions=["kms:GenerateDataKey"],
            resources=[key.key_arn],
            conditions={"StringEquals": {"kms:EncryptionContext:SourceArn": deliveries}},
        ),
    ]
