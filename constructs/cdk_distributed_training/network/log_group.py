"""Log groups that this library makes."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct


def create_log_group(
    scope: Construct, id: str, *, encryption_key: kms.IKey | None, log_group_name: str | None = None
) -> logs.LogGroup:
    """Create a log group that keeps a year and stays when the stack is deleted.

    Args:
        scope: Scope of the group.
        id: Its construct id.
        encryption_key: Key for it; its policy then lets CloudWatch Logs use it for this account's log groups, unless
            the key was imported: then its owner must. By default CloudWatch Logs' own key.
        log_group_name: Its name, where a service asks for one; by default CloudFormation makes it up.
    """
    if encryption_key is not None:
        _let_logs_use(encryption_key, cdk.Stack.of(scope))
    return logs.LogGroup(
        scope,
        id,
        retention=logs.RetentionDays.ONE_YEAR,
        encryption_key=encryption_key,
        log_group_name=log_group_name,
    )


def _let_logs_use(key: kms.IKey, stack: cdk.Stack) -> None:
    # https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html
    key.add_to_resource_policy(
        iam.PolicyStatement(
            principals=[iam.ServicePrincipal(f"logs.{stack.region}.{stack.url_suffix}")],
            actions=["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*"],
            resources=["*"],
            conditions={
                "ArnLike": {
                    "kms:EncryptionContext:aws:logs:arn": stack.format_arn(
                        service="logs",
                        resource="log-group",
                        resource_name="*",
                        arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
                    )
                }
            },
        )
    )
