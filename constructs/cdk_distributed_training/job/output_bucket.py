"""The bucket for models and checkpoints."""

from __future__ import annotations

import functools

import aws_cdk as cdk
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from cdk_distributed_training.checks.acknowledgements import acknowledge_everywhere


def create_output_bucket(scope: Construct, id: str, *, encryption_key: kms.IKey | None = None) -> s3.Bucket:
    """A private, encrypted, versioned bucket that outlives the stack.

    Its key is the account's own for S3, `aws/s3`, of which every principal of the account that may use S3 has the use,
    unless another is given. Old versions, such as overwritten checkpoints, go after 30 days; uploads that were never
    finished after 7.
    """
    bucket = s3.Bucket(
        scope,
        id,
        encryption=s3.BucketEncryption.KMS_MANAGED if encryption_key is None else s3.BucketEncryption.KMS,
        encryption_key=encryption_key,
        bucket_key_enabled=True,
        block_public_access=_nobody(),
        enforce_ssl=True,
        minimum_tls_version=1.2,
        versioned=True,
        removal_policy=cdk.RemovalPolicy.RETAIN,
        lifecycle_rules=[_leftovers()],
    )
    acknowledge_everywhere(
        bucket,
        {
            "access logs need a second bucket, of the account owner's choice: bring an output bucket that has them": [
                "AwsSolutions-S1",
                "S3BucketLoggingEnabled",
                "CKV_AWS_18",
            ],
            "models and checkpoints can be made again; what is worth a copy elsewhere goes to a bucket that has one": [
                "S3BucketReplicationEnabled"
            ],
        },
    )
    return bucket


@functools.cache
def _nobody() -> s3.BlockPublicAccess:
    return s3.BlockPublicAccess.BLOCK_ALL


@functools.cache
def _leftovers() -> s3.LifecycleRule:
    return s3.LifecycleRule(
        noncurrent_version_expiration=cdk.Duration.days(30),
        abort_incomplete_multipart_upload_after=cdk.Duration.days(7),
    )
