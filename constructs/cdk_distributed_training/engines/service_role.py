"""Roles for AWS services that work on a job's behalf."""

from __future__ import annotations

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk_distributed_training.checks.acknowledgements import acknowledge_wildcards
from cdk_distributed_training.engines.statement import AnyStatement, policy_document


class ServiceRole(Construct):
    """A role that one service of this account takes on, with exactly the statements given.

    The statements stand in a managed policy that exists before the role does: what uses the role never meets it without
    them.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        service: str,
        source_arn: str,
        statements: Sequence[AnyStatement],
        wildcards: str | None = None,
    ) -> None:
        """Make the role.

        Args:
            scope: The parent construct.
            id: The construct id.
            service: The service's principal, such as `states.amazonaws.com`.
            source_arn: Pattern of the resources on whose behalf the service may take on the role.
            statements: What the role may do.
            wildcards: Why some statements have wildcards; `None` if none has.
        """
        super().__init__(scope, id)
        policy = iam.ManagedPolicy(self, "Policy", document=policy_document(statements))
        if wildcards is not None:
            acknowledge_wildcards(policy, wildcards)
        account = cdk.Stack.of(self).account
        self._role = iam.Role(
            self,
            "Resource",
            assumed_by=iam.ServicePrincipal(
                service,
                conditions={
                    "StringEquals": {"aws:SourceAccount": account},
                    "ArnLike": {"aws:SourceArn": source_arn},
                },
            ),
            managed_policies=[policy],
        )

    @property
    def role(self) -> iam.IRole:
        """The role, to which constructs that use it add nothing."""
        return self._role.without_policy_updates()
