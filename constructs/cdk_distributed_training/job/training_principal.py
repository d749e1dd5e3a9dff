"""To whom a job's parts grant what they need, whoever's the role is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jsii
from aws_cdk import aws_iam as iam
from constructs import IDependable

from cdk_distributed_training.engines.statement import AnyStatement, Statement, for_cdk, policy_document


@jsii.implements(iam.IPrincipal)
class TrainingPrincipal:
    """A role whose statements are collected, so that one policy of the job's own holds them all.

    CDK would put them into the role's own policy, which stands in the role's stack. A role of another stack would then
    refer to the job's stack, which refers to the role: a circle. And where the role may not be changed, CDK would drop
    them without a word.
    """

    def __init__(self, role: Callable[[], iam.IRole], *, account: str, holder: IDependable) -> None:
        """Collect for a role.

        Args:
            role: Gives the role, which need not be made before a resource's policy names it.
            account: Its account; resources of another one get a statement in their own policy besides.
            holder: What stands for the policy, for those who must wait until the role may do something.
        """
        self._holder = holder
        self._role = role
        self._account = account
        self._statements: list[AnyStatement] = []

    @property
    def statements(self) -> list[iam.PolicyStatement]:
        """What has been granted so far, in order."""
        return for_cdk(self._statements)

    @property
    def document(self) -> iam.PolicyDocument:
        """A policy of what has been granted so far."""
        return policy_document(self._statements)

    def allow(self, statement: Statement) -> None:
        """Collect a statement of this library's."""
        self._statements.append(statement)

    @property
    def grant_principal(self) -> Any:
        """The principal itself."""
        return self

    @property
    def assume_role_action(self) -> str:
        """How a role is taken on."""
        return "sts:AssumeRole"

    @property
    def policy_fragment(self) -> iam.PrincipalPolicyFragment:
        """The role, as the policy of a resource names it."""
        return self._role().policy_fragment

    @property
    def principal_account(self) -> str:
        """The role's account."""
        return self._account

    def add_to_policy(self, statement: iam.PolicyStatement) -> bool:
        """Collect a statement."""
        return bool(self.add_to_principal_policy(statement).statement_added)

    def add_to_principal_policy(self, statement: iam.PolicyStatement) -> iam.AddToPrincipalPolicyResult:
        """Collect a statement."""
        self._statements.append(statement)
        return iam.AddToPrincipalPolicyResult(statement_added=True, policy_dependable=self._holder)
