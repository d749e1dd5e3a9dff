"""Log groups that this library makes."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from cdk_distributed_training.checks.acknowledgements import acknowledge_everywhere


def create_log_group(
    scope: Construct,
    id: str,
    *,
    encryption_key: kms.IKey | None,
    log_group_name: str | None = None,
    retention: logs.RetentionDays = logs.RetentionDays.ONE_YEAR,
    removal_policy: cdk.RemovalPolicy | None = None,
) -> logs.LogGroup:
    """Create a log group.

    Args:
        scope: Scope of the group.
        id: Its construct id.
        encryption_key: Key for it; its policy then lets CloudWatch Logs use it for this account's log groups, unless
            the key was imported: then its owner must. By default CloudWatch Logs' own key.
        log_group_name: Its name, where a service asks for one; by default CloudFormation makes it up.
        retention: How long it keeps what is logged; a year unless given.
        removal_policy: What happens to it with the stack; it stays unless given.
    """
    if encryption_key is not None:
        _let_logs_use(encryption_key, cdk.Stack.of(scope))
    group = logs.LogGroup(
        scope,
        id,
        retention=retention,
        encryption_key=encryption_key,
        log_group_name=log_group_name,
        removal_policy=removal_policy,
    )
    if encryption_key is None:
        acknowledge_everywhere(
            group,
            {
                "CloudWatch Logs encrypts with a key of its own; a key of the account's is a choice, encryption_key": [
                    "CloudWatchLogGroupEncrypted",
                    "CKV_AWS_158",
                ]
            },
        )
    return group


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
