"""The one way in which a job's parts allow something."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import aws_iam as iam

from cdk_distributed_training.engines.statement import Statement
from cdk_distributed_training.job.training_principal import TrainingPrincipal


def allow(
    grantee: iam.IGrantable,
    actions: Sequence[str],
    resources: Sequence[str],
    conditions: Mapping[str, Any] | None = None,
) -> None:
    """Allow actions on resources by the grantee's own policy.

    `iam.Grant.add_to_principal` does the same and reports what became of it, which takes five calls into Node.js
    where this takes one, and none for a job's own role.
    """
    statement = Statement(actions=sorted(actions), resources=list(resources), conditions=conditions)
    principal = grantee.grant_principal
    if isinstance(principal, TrainingPrincipal):
        principal.allow(statement)
    else:
        principal.add_to_principal_policy(statement.for_cdk())
