"""The log of an engine's state machines."""

from __future__ import annotations

import functools

import aws_cdk as cdk
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from cdk_distributed_training.monitoring.log_group import create_log_group


def create_execution_log(scope: Construct, *, encryption_key: kms.IKey | None) -> logs.LogGroup:
    """One log for all state machines of an engine: kept for three months, gone with the stack; its id is `LogGroup`.

    Args:
        scope: The engine.
        encryption_key: Key for the log; CloudWatch Logs' own if `None`.
    """
    # groups of other names each lengthen one policy of the account, which ends at 5,120 characters:
    # https://docs.aws.amazon.com/step-functions/latest/dg/bp-cwl.html
    name = cdk.Names.unique_resource_name(scope, max_length=80, separator="-")
    return create_log_group(
        scope,
        "LogGroup",
        encryption_key=encryption_key,
        log_group_name=f"/aws/vendedlogs/states/{name}-{_stack_identity()}",
        retention=logs.RetentionDays.THREE_MONTHS,
        removal_policy=cdk.RemovalPolicy.DESTROY,
    )


@functools.cache
def _stack_identity() -> str:
    """The end of the stack's own id, which makes a name new each time the stack is made; the same token in any app."""
    return cdk.Fn.select(4, cdk.Fn.split("-", cdk.Fn.select(2, cdk.Fn.split("/", cdk.Aws.STACK_ID))))
