"""The bucket for models and checkpoints."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_s3 as s3
from constructs import Construct

from cdk_distributed_training.checks.acknowledgements import acknowledge


def create_output_bucket(scope: Construct, id: str) -> s3.Bucket:
    """A private, encrypted, versioned bucket that outlives the stack.

    Old versions, such as overwritten checkpoints, go after 30 days; uploads that were never finished after 7.
    """
    bucket = s3.Bucket(
        scope,
        id,
        encryption=s3.BucketEncryption.S3_MANAGED,
        block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
        enforce_ssl=True,
        minimum_tls_version=1.2,
        versioned=True,
        removal_policy=cdk.RemovalPolicy.RETAIN,
        lifecycle_rules=[
            s3.LifecycleRule(
                noncurrent_version_expiration=cdk.Duration.days(30),
                abort_incomplete_multipart_upload_after=cdk.Duration.days(7),
            )
        ],
    )
    acknowledge(
        bucket,
        "AwsSolutions-S1",
        "access logs need a second bucket, of the account owner's choice: bring an output bucket that has them",
    )
    return bucket
