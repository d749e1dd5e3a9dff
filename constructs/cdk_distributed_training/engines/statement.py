"""Statements of IAM policies as plain values, so that a whole policy crosses into Node.js at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aws_cdk import aws_iam as iam


@dataclass(frozen=True, kw_only=True)
class Statement:
    """What is allowed; any text may be a token.

    Attributes:
        actions: The actions, in the order in which the template has them.
        resources: ARNs, or `*`.
        conditions: Conditions by operator and key; none unless given.
    """

    actions: Sequence[str]
    resources: Sequence[str]
    conditions: Mapping[str, Any] | None = None

    def render(self) -> dict[str, Any]:
        """The statement as IAM has it."""
        condition = {} if self.conditions is None else {"Condition": self.conditions}
        return {"Effect": "Allow", "Action": list(self.actions), "Resource": list(self.resources), **condition}

    def for_cdk(self) -> iam.PolicyStatement:
        """The statement as CDK has it."""
        return iam.PolicyStatement(
            actions=list(self.actions), resources=list(self.resources), conditions=self.conditions
        )


AnyStatement = Statement | iam.PolicyStatement


def pass_to_sagemaker(role: iam.IRole) -> Statement:
    """Allow to give SageMaker, and no other service, the role that it runs a job by."""
    return Statement(
        actions=["iam:PassRole"],
        resources=[role.role_arn],
        conditions={"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}},
    )


def for_cdk(statements: Sequence[AnyStatement]) -> list[iam.PolicyStatement]:
    """All of them as CDK has them."""
    return [each.for_cdk() if isinstance(each, Statement) else each for each in statements]


def policy_document(statements: Sequence[AnyStatement]) -> iam.PolicyDocument:
    """One document, in one call where none of the statements is CDK's own."""
    plain = [each.render() for each in statements if isinstance(each, Statement)]
    if len(plain) == len(statements):
        return iam.PolicyDocument.from_json({"Statement": plain})
    return iam.PolicyDocument(statements=for_cdk(statements))
