"""Permission to read what training jobs print."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk_distributed_training.monitoring.job_metrics import LOG_GROUP


def grant_reading_logs(
    scope: Construct, grant: Callable[[list[str], list[str]], iam.Grant], *, names: Sequence[str]
) -> iam.Grant:
    """Allow to read what training jobs print, and to look at them.

    The log group is one of the account's and region's training jobs; the log streams of other jobs stay closed, but
    for their names.

    Args:
        scope: A construct of the stack.
        grant: Grants actions on resources.
        names: Patterns of the training jobs' names.
    """
    stack = cdk.Stack.of(scope)
    group = stack.format_arn(
        service="logs",
        resource="log-group",
        resource_name=LOG_GROUP,
        arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
    )
    jobs = [stack.format_arn(service="sagemaker", resource="training-job", resource_name=name) for name in names]
    grant(["logs:DescribeLogStreams"], [f"{group}:*"])
    grant(["logs:GetLogEvents"], [f"{group}:log-stream:{name}" for name in names])
    return grant(["sagemaker:DescribeTrainingJob"], jobs)
