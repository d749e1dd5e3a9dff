"""Exactly the S3 and KMS permissions that a channel, the output or checkpoints take."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3

from cdk_distributed_training.enclosing_stack import enclosing_stack
from cdk_distributed_training.job.allow import allow

_LIST = ("s3:ListBucket",)
_READ = ("s3:GetObject",)
_WRITE = ("s3:AbortMultipartUpload", "s3:PutObject")


def grant_read(grantee: iam.IGrantable, bucket: s3.IBucket, prefix: str = "") -> None:
    """Allow to list a bucket and to get what lies under a prefix."""
    _grant(grantee, bucket, prefix, _READ)
    _grant_key(grantee, bucket, "kms:Decrypt")


def grant_write(grantee: iam.IGrantable, bucket: s3.IBucket, prefix: str = "") -> None:
    """Allow to list a bucket and to put objects under a prefix.

    An encrypted bucket takes `kms:GenerateDataKey`, and `kms:Decrypt` for uploads in parts.
    """
    _grant(grantee, bucket, prefix, _WRITE)
    _grant_key(grantee, bucket, "kms:Decrypt", "kms:GenerateDataKey")


def grant_synchronize(grantee: iam.IGrantable, bucket: s3.IBucket, prefix: str = "") -> None:
    """Allow to keep what lies under a prefix equal to a folder: list, get, put and delete."""
    _grant(grantee, bucket, prefix, (*_READ, *_WRITE, "s3:DeleteObject"))
    _grant_key(grantee, bucket, "kms:Decrypt", "kms:GenerateDataKey")


def _grant(grantee: iam.IGrantable, bucket: s3.IBucket, prefix: str, actions: tuple[str, ...]) -> None:
    # SageMaker's documentation asks for ListBucket without a condition on the prefix:
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-roles.html#sagemaker-roles-createtrainingjob-perms
    principal = grantee.grant_principal
    elsewhere = _in_another_account(bucket, principal)
    bucket_arn = bucket.bucket_arn
    for granted, arn in ((_LIST, bucket_arn), (actions, f"{bucket_arn}/{prefix}*")):
        allow(grantee, granted, [arn])
        if elsewhere:
            bucket.add_to_resource_policy(
                iam.PolicyStatement(actions=sorted(granted), resources=[arn], principals=[principal])
            )


def _in_another_account(bucket: s3.IBucket, principal: iam.IPrincipal) -> bool:
    """Whether the bucket's own policy must allow the use too: both accounts are known, and differ."""
    # to ask for a bucket's environment takes three calls into Node.js; one that was made in this app has its stack's
    account = enclosing_stack(bucket).account if isinstance(bucket, s3.Bucket) else bucket.env.account
    accounts = {account, principal.principal_account}
    return None not in accounts and len(accounts) > 1 and not any(map(cdk.Token.is_unresolved, accounts))


def _grant_key(grantee: iam.IGrantable, bucket: s3.IBucket, *actions: str) -> None:
    if bucket.encryption_key is not None:
        bucket.encryption_key.grant(grantee, *actions)
