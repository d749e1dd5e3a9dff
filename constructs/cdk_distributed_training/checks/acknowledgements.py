"""Reasons for what a policy checker would otherwise complain of."""

from __future__ import annotations

import aws_cdk as cdk
from constructs import IConstruct


def acknowledge(scope: IConstruct, rule: str, reason: str) -> None:
    """Tell cdk-nag why a rule's finding on one construct is as it should be.

    Args:
        scope: The one construct.
        rule: The rule's id, such as `AwsSolutions-IAM5`; what stands before the hyphen is the pack's name, with which
            the report keeps the finding as a suppressed one.
        reason: Why.
    """
    pack = rule.partition("-")[0]
    cdk.Validations.of(scope).acknowledge(cdk.Acknowledgment(id=f"{pack}::{rule}", reason=reason))
