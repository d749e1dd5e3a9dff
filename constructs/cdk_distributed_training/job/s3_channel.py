"""Input channels from S3."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3

from cdk_distributed_training.checks.findings import raise_errors
from cdk_distributed_training.checks.rules import request as rules
from cdk_distributed_training.job.s3_access import grant_read
from cdk_distributed_training.job.tokens import known
from cdk_distributed_training.request.channels import s3_channel


class Channel:
    """Input data in S3: every object under a prefix, whole on every host, in `/opt/ml/input/data/<channel name>`.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_Channel.html
    """

    def __init__(
        self, channel_name: str, uri: str, *, input_mode: str | None, grant: Callable[[iam.IGrantable], None]
    ) -> None:
        """Use `from_bucket` or `from_s3_uri`."""
        self._channel_name = channel_name
        self._uri = uri
        self._input_mode = input_mode
        self._grant = grant

    @classmethod
    def from_bucket(
        cls, channel_name: str, bucket: s3.IBucket, *, prefix: str = "", input_mode: str | None = None
    ) -> Channel:
        """Everything under a prefix of a bucket.

        Args:
            channel_name: Name of the channel and of its folder.
            bucket: The bucket; the job's role may list it, read under the prefix, and use its key.
            prefix: Beginning of the objects' keys, such as `corpus/`; the whole bucket unless given.
            input_mode: `File` downloads before the start (the default), `FastFile` streams on read.
        """
        return cls(
            channel_name,
            f"s3://{bucket.bucket_name}/{prefix}",
            input_mode=input_mode,
            grant=lambda grantee: grant_read(grantee, bucket, prefix),
        )

    @classmethod
    def from_s3_uri(cls, channel_name: str, uri: str, *, input_mode: str | None = None) -> Channel:
        """Everything under an S3 address.

        The job's role may list the bucket and read under the prefix. For a bucket with a key of its own, use
        `from_bucket`, which grants the key too.

        Args:
            channel_name: Name of the channel and of its folder.
            uri: Address such as `s3://bucket/corpus/`, or a token.
            input_mode: `File` downloads before the start (the default), `FastFile` streams on read.

        Raises:
            ConfigurationError: The address is none of S3.
        """
        if known(uri):
            raise_errors(rules.s3_uri("uri", uri))
        if uri.startswith("s3://"):
            bucket_name, _, prefix = uri.removeprefix("s3://").partition("/")
        else:
            # the whole address is a token: its third part between slashes is the bucket
            bucket_name, prefix = cdk.Fn.select(2, cdk.Fn.split("/", uri)), ""
        bucket_arn = f"arn:{cdk.Aws.PARTITION}:s3:::{bucket_name}"

        def grant(grantee: iam.IGrantable) -> None:
            for action, arn in (("s3:ListBucket", bucket_arn), ("s3:GetObject", f"{bucket_arn}/{prefix}*")):
                iam.Grant.add_to_principal(grantee=grantee, actions=[action], resource_arns=[arn])

        return cls(channel_name, uri, input_mode=input_mode, grant=grant)

    @property
    def channel_name(self) -> str:
        """Name of the channel and of its folder."""
        return self._channel_name

    @property
    def network(self) -> None:
        """S3 can be reached from any network."""
        return

    def bind(self, grantee: iam.IGrantable) -> dict[str, Any]:
        """Grant reading, and return the request's entry."""
        self._grant(grantee)
        return s3_channel(self._channel_name, self._uri, input_mode=self._input_mode)
