"""The one way in which a job's parts allow something."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import aws_iam as iam


def allow(
    grantee: iam.IGrantable,
    actions: Sequence[str],
    resources: Sequence[str],
    conditions: Mapping[str, Any] | None = None,
) -> None:
    """Allow actions on resources by the grantee's own policy.

    `iam.Grant.add_to_principal` does the same and reports what became of it, which takes five calls into Node.js
    where this takes one.
    """
    grantee.grant_principal.add_to_principal_policy(
        iam.PolicyStatement(actions=sorted(actions), resources=list(resources), conditions=conditions)
    )
