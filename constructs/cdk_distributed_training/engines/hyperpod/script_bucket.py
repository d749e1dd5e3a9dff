"""The bucket from which nodes read scripts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_deployment as deployment
from constructs import Construct

from cdk_distributed_training.checks.acknowledgements import acknowledge_everywhere


class ScriptBucket(Construct):
    """A bucket whose name begins with `sagemaker-`, as HyperPod asks, and folders of files that deployments bring.

    It goes with the stack, with what is in it: each deployment makes the files again.
    """

    def __init__(self, scope: Construct, id: str, *, encryption_key: kms.IKey | None = None) -> None:
        """Make the bucket.

        Args:
            scope: The parent construct.
            id: The construct id.
            encryption_key: Key for the files; the account's own for S3 unless given.
        """
        super().__init__(scope, id)
        stack = cdk.Stack.of(self)
        own = cdk.Names.unique_resource_name(self, max_length=24, separator="-").lower()
        self._key = encryption_key
        self._bucket = s3.Bucket(
            self,
            "Resource",
            bucket_name=f"sagemaker-{own}-{stack.account}",
            encryption=s3.BucketEncryption.KMS_MANAGED if encryption_key is None else s3.BucketEncryption.KMS,
            encryption_key=encryption_key,
            bucket_key_enabled=True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        acknowledge_everywhere(
            self._bucket,
            {
                "it holds scripts of this app, which each deployment makes again and only the nodes read": [
                    "AwsSolutions-S1",
                    "S3BucketLoggingEnabled",
                    "S3BucketReplicationEnabled",
                    "S3BucketVersioningEnabled",
                    "CKV_AWS_18",
                    "CKV_AWS_21",
                ]
            },
        )

    @property
    def bucket(self) -> s3.IBucket:
        """The bucket."""
        return self._bucket

    def add_directory(self, id: str, directory: Path, prefix: str) -> deployment.BucketDeployment:
        """Bring a folder of this machine.

        Args:
            id: The construct id.
            directory: The folder.
            prefix: Where it goes.
        """
        return self._deploy(id, deployment.Source.asset(str(directory)), prefix=prefix)

    def add_files(self, id: str, files: Mapping[str, str], prefix: str) -> deployment.BucketDeployment:
        """Bring texts, which may have tokens in them.

        Args:
            id: The construct id.
            files: The texts by their file names.
            prefix: Where they go.
        """
        return self._deploy(id, *(deployment.Source.data(name, text) for name, text in files.items()), prefix=prefix)

    def read_statements(self, prefix: str) -> list[iam.PolicyStatement]:
        """What a reader of one folder must be allowed."""
        return read_statements(self._bucket, prefix, self._key)

    def _deploy(self, id: str, *sources: deployment.ISource, prefix: str) -> deployment.BucketDeployment:
        return deployment.BucketDeployment(
            self,
            id,
            destination_bucket=self._bucket,
            destination_key_prefix=prefix,
            sources=list(sources),
            retain_on_delete=False,
        )


def read_statements(bucket: s3.IBucket, prefix: str, key: kms.IKey | None) -> list[iam.PolicyStatement]:
    """What a reader of one folder of a bucket must be allowed.

    Args:
        bucket: The bucket.
        prefix: The folder; empty for all of it.
        key: The bucket's own key, if it has one.
    """
    objects = f"{prefix.strip('/')}/*" if prefix.strip("/") else "*"
    statements = [
        iam.PolicyStatement(actions=["s3:ListBucket"], resources=[bucket.bucket_arn]),
        iam.PolicyStatement(actions=["s3:GetObject"], resources=[bucket.arn_for_objects(objects)]),
    ]
    if key is not None:
        statements.append(iam.PolicyStatement(actions=["kms:Decrypt"], resources=[key.key_arn]))
    return statements
