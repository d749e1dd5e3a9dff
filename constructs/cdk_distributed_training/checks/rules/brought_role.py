"""Rules about a role that a job was given (DT613)."""

from __future__ import annotations

from collections.abc import Iterator

from cdk_distributed_training.checks.examples import given
from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.checks.rule import rule

_SOURCE = "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-roles.html#sagemaker-roles-createtrainingjob-perms"


@rule(
    "DT613",
    title="A role that may not be changed",
    severity=Severity.WARNING,
    why="Nothing can be attached to it here. The job fails at its start, or at its end when it stores the model, "
    "unless the role's owner allows what the job needs.",
    source=_SOURCE,
    bad=given(statements='[{"Effect": "Allow", "Action": "s3:ListBucket", "Resource": "arn:aws:s3:::corpus"}]'),
)
def unchangeable_role(statements: str) -> Iterator[Finding]:
    """DT613 (warning): an imported role that must not be changed needs these statements from its owner.

    Args:
        statements: The statements as JSON.
    """
    yield Finding(
        rule="DT613",
        prop="role",
        got="a role that this app may not change, so no policy was attached to it",
        allowed=statements,
        fix="add these statements where the role is defined; job.required_statements has them as data",
        severity=Severity.WARNING,
        source=_SOURCE,
    )
