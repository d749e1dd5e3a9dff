"""How the data of a channel are spread over the hosts, and what they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from cdk_distributed_training.request.s3_data_source import S3Distribution


@dataclass(frozen=True, kw_only=True)
class ChannelOptions:
    """What few channels of S3 need.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_Channel.html

    Attributes:
        distribution: `FullyReplicated` gives all objects to every host, `ShardedByS3Key` to each host its share.
        shuffle_seed: Seed of the order in which objects come in Pipe mode, new in each epoch; by key unless given.
        instance_groups: Names of the groups of machines that get the data, at most 5; all unless given.
        content_type: MIME type of the data, at most 256 characters.
        compression: Whether the data are compressed, which SageMaker undoes in Pipe mode.
        record_wrapper: Whether SageMaker wraps each object in RecordIO, in Pipe mode.
        conversations: Whether the objects are conversations in Bedrock's Converse format.
        accept_eula: Whether you accept the license of the model that the data are.
        hub_content_arn: ARN of the hub content that the data are.
    """

    distribution: S3Distribution = "FullyReplicated"
    shuffle_seed: int | None = None
    instance_groups: Sequence[str] = ()
    content_type: str | None = None
    compression: Literal["None", "Gzip"] | None = None
    record_wrapper: Literal["None", "RecordIO"] | None = None
    conversations: bool = False
    accept_eula: bool | None = None
    hub_content_arn: str | None = None
