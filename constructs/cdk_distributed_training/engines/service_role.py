"""Roles for AWS services that work on a job's behalf."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk_distributed_training.checks.acknowledgements import acknowledge_wildcards
from cdk_distributed_training.enclosing_stack import PartOfStack
from cdk_distributed_training.engines.statement import AnyStatement, policy_document


class ServiceRole(PartOfStack):
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
        document = policy_document(statements)
        policy = iam.ManagedPolicy(self, "Policy", document=document)
        if wildcards is not None:
            acknowledge_wildcards(policy, wildcards, document=document, stack=self._stack)
        self._role = iam.Role(
            self,
            "Resource",
            assumed_by=service_principal(service, account=self._stack.account, source_arn=source_arn),
            managed_policies=[policy],
        )

    @property
    def role(self) -> iam.IRole:
        """The role, to which constructs that use it add nothing."""
        return self._role.without_policy_updates()


@functools.cache
def service_principal(service: str, *, account: str, source_arn: str) -> iam.ServicePrincipal:
    """A service on behalf of this account's resources and of nobody else's; one value for all roles that trust alike.

    Args:
        service: The service's principal, such as `states.amazonaws.com`.
        account: The account.
        source_arn: Pattern of the resources on whose behalf the service may take on the role.
    """
    return iam.ServicePrincipal(
        service, conditions={"StringEquals": {"aws:SourceAccount": account}, "ArnLike": {"aws:SourceArn": source_arn}}
    )
