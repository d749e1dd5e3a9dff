"""Input channels from S3."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3

from cdk_distributed_training.checks.findings import raise_errors
from cdk_distributed_training.checks.rules import request as rules
from cdk_distributed_training.job.allow import allow
from cdk_distributed_training.job.s3_access import grant_read
from cdk_distributed_training.job.tokens import partition
from cdk_distributed_training.request.channel_options import ChannelOptions
from cdk_distributed_training.request.channels import ChannelEntry
from cdk_distributed_training.request.s3_data_source import S3DataSource
from cdk_distributed_training.tokens import known

Grant = Callable[[iam.IGrantable], None]


class Channel:
    """Input data in S3, in `/opt/ml/input/data/<channel name>` on the hosts.

    Make one with `from_bucket`, `from_s3_uri`, `from_manifest`, `from_augmented_manifest` or `from_dataset`.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_Channel.html
    """

    def __init__(self, entry: ChannelEntry, *, grant: Grant, bucket: s3.IBucket | None = None) -> None:
        """Use one of the makers.

        Args:
            entry: The request's entry.
            grant: Grants the job's role what reading takes.
            bucket: The bucket that it reads from, if that is more than a name.
        """
        self._bucket = bucket
        self._entry = entry
        self._grant = grant

    @classmethod
    def from_bucket(
        cls,
        channel_name: str,
        bucket: s3.IBucket,
        *,
        prefix: str = "",
        input_mode: str | None = None,
        options: ChannelOptions | None = None,
    ) -> Channel:
        """Everything under a prefix of a bucket.

        Args:
            channel_name: Name of the channel and of its folder.
            bucket: The bucket; the job's role may list it, read under the prefix, and use its key.
            prefix: Beginning of the objects' keys, such as `corpus/`; the whole bucket unless given.
            input_mode: `File` downloads before the start, `FastFile` streams on read, `Pipe` gives a pipe; the job's
                own mode unless given.
            options: Which hosts get which objects, and what the data are; all of them on every host unless given.
        """
        source = S3DataSource(uri=f"s3://{bucket.bucket_name}/{prefix}")
        return cls(
            _entry(channel_name, source, input_mode, options),
            grant=lambda grantee: grant_read(grantee, bucket, prefix),
            bucket=bucket,
        )

    @classmethod
    def from_s3_uri(
        cls, channel_name: str, uri: str, *, input_mode: str | None = None, options: ChannelOptions | None = None
    ) -> Channel:
        """Everything under an S3 address.

        The job's role may list the bucket and read under the prefix. For a bucket with a key of its own, use
        `from_bucket`, which grants the key too.

        Args:
            channel_name: Name of the channel and of its folder.
            uri: Address such as `s3://bucket/corpus/`, or a token.
            input_mode: As for `from_bucket`.
            options: As for `from_bucket`.

        Raises:
            ConfigurationError: The address is none of S3.
        """
        if known(uri):
            raise_errors(rules.s3_uri("uri", uri))
        return cls(_entry(channel_name, S3DataSource(uri=uri), input_mode, options), grant=_grant_of(uri))

    @classmethod
    def from_manifest(
        cls,
        channel_name: str,
        bucket: s3.IBucket,
        *,
        key: str,
        data_prefix: str = "",
        input_mode: str | None = None,
        options: ChannelOptions | None = None,
    ) -> Channel:
        """The objects that a manifest lists: a JSON list of a prefix and the rest of each object's address.

        Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_S3DataSource.html

        Args:
            channel_name: Name of the channel and of its folder.
            bucket: The bucket with the manifest and the objects; the job's role may list it, read the manifest and what
                is under `data_prefix`, and use its key. Objects of other buckets take grants of their own.
            key: Key of the manifest.
            data_prefix: Beginning of the objects' keys; the whole bucket unless given.
            input_mode: As for `from_bucket`.
            options: As for `from_bucket`.
        """
        source = S3DataSource(uri=f"s3://{bucket.bucket_name}/{key}", data_type="ManifestFile")
        entry = _entry(channel_name, source, input_mode, options)
        return cls(entry, grant=_grant_of_manifest(bucket, key, data_prefix), bucket=bucket)

    @classmethod
    def from_augmented_manifest(
        cls,
        channel_name: str,
        bucket: s3.IBucket,
        *,
        key: str,
        attribute_names: Sequence[str],
        data_prefix: str = "",
        options: ChannelOptions | None = None,
    ) -> Channel:
        """Objects and their labels, as an augmented manifest lists them: a JSON object in each line.

        They come through a pipe, in Pipe mode, which is the only one for augmented manifests.
        Source: https://docs.aws.amazon.com/sagemaker/latest/dg/augmented-manifest.html

        Args:
            channel_name: Name of the channel and of its pipe.
            bucket: As for `from_manifest`.
            key: Key of the manifest.
            attribute_names: The lines' attributes to read, in the order in which they come; from 1 to 16.
            data_prefix: As for `from_manifest`.
            options: As for `from_bucket`; the usual record wrapper is `RecordIO`.
        """
        source = S3DataSource(
            uri=f"s3://{bucket.bucket_name}/{key}",
            data_type="AugmentedManifestFile",
            attribute_names=tuple(attribute_names),
        )
        entry = _entry(channel_name, source, "Pipe", options)
        return cls(entry, grant=_grant_of_manifest(bucket, key, data_prefix), bucket=bucket)

    @classmethod
    def from_dataset(cls, channel_name: str, dataset_arn: str) -> Channel:
        """A data set of a SageMaker hub, which the job's role may read.

        Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DatasetSource.html

        Args:
            channel_name: Name of the channel and of its folder.
            dataset_arn: ARN of the data set, such as
                `arn:aws:sagemaker:us-east-1:111122223333:hub-content/hub/DataSet/name/1.0.0`.
        """

        def grant(grantee: iam.IGrantable) -> None:
            iam.Grant.add_to_principal(
                grantee=grantee, actions=["sagemaker:DescribeHubContent"], resource_arns=[dataset_arn]
            )

        return cls(ChannelEntry(channel_name=channel_name, dataset_arn=dataset_arn), grant=grant)

    @property
    def channel_name(self) -> str:
        """Name of the channel and of its folder."""
        return self._entry.channel_name

    @property
    def bucket(self) -> s3.IBucket | None:
        """The bucket that it reads from; None if only its name is known."""
        return self._bucket

    @property
    def network(self) -> None:
        """S3 can be reached from any network."""
        return

    def bind(self, grantee: iam.IGrantable) -> dict[str, Any]:
        """Grant reading, and return the request's entry."""
        self._grant(grantee)
        return self._entry.render()


def _entry(
    channel_name: str, source: S3DataSource, input_mode: str | None, options: ChannelOptions | None
) -> ChannelEntry:
    options = options or ChannelOptions()
    source = replace(
        source,
        data_type="Converse" if options.conversations else source.data_type,
        distribution=options.distribution,
        instance_groups=tuple(options.instance_groups),
        accept_eula=options.accept_eula,
        hub_content_arn=options.hub_content_arn,
    )
    return ChannelEntry(
        channel_name=channel_name,
        s3=source,
        content_type=options.content_type,
        compression=options.compression,
        record_wrapper=options.record_wrapper,
        input_mode=input_mode,
        shuffle_seed=options.shuffle_seed,
    )


def _grant_of(uri: str) -> Grant:
    """Reading under an address, which may be a token as a whole."""
    if uri.startswith("s3://"):
        bucket_name, _, prefix = uri.removeprefix("s3://").partition("/")
    else:
        # the third part between slashes is the bucket
        bucket_name, prefix = cdk.Fn.select(2, cdk.Fn.split("/", uri)), ""
    bucket_arn = f"arn:{partition()}:s3:::{bucket_name}"

    def grant(grantee: iam.IGrantable) -> None:
        for action, arn in (("s3:ListBucket", bucket_arn), ("s3:GetObject", f"{bucket_arn}/{prefix}*")):
            allow(grantee, [action], [arn])

    return grant


def _grant_of_manifest(bucket: s3.IBucket, key: str, data_prefix: str) -> Grant:
    def grant(grantee: iam.IGrantable) -> None:
        for prefix in (data_prefix, key) if data_prefix else ("",):
            grant_read(grantee, bucket, prefix)

    return grant
