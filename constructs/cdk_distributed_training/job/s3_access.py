"""Exactly the S3 and KMS permissions that a channel, the output or checkpoints take."""

from __future__ import annotations

from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3

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
    for granted, arn in ((_LIST, bucket.bucket_arn), (actions, bucket.arn_for_objects(f"{prefix}*"))):
        iam.Grant.add_to_principal_or_resource(
            grantee=grantee, actions=sorted(granted), resource_arns=[arn], resource=bucket
        )


def _grant_key(grantee: iam.IGrantable, bucket: s3.IBucket, *actions: str) -> None:
    if bucket.encryption_key is not None:
        bucket.encryption_key.grant(grantee, *actions)
