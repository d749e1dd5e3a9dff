"""Data in S3, as a channel's source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from cdk_distributed_training.request.request_part import RequestPart, spelled

S3DataType = Literal["S3Prefix", "ManifestFile", "AugmentedManifestFile", "Converse"]
S3Distribution = Literal["FullyReplicated", "ShardedByS3Key"]


@dataclass(frozen=True, kw_only=True)
class S3DataSource(RequestPart):
    """Objects in S3, and which hosts get which.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_S3DataSource.html

    Attributes:
        uri: A prefix, or the address of a manifest.
        data_type: What the address means.
        distribution: `FullyReplicated` gives all to every host, `ShardedByS3Key` to each host its share.
        attribute_names: Attributes of an augmented manifest that are read, in this order; at most 16.
        instance_groups: Groups of machines that get the data, at most 5; all unless given.
        accept_eula: Whether the license of a model in the data is accepted.
        hub_content_arn: ARN of the hub content that the data are.
    """

    data_type: S3DataType = field(default="S3Prefix", metadata=spelled("S3DataType"))
    uri: str = field(metadata=spelled("S3Uri"))
    distribution: S3Distribution = field(default="FullyReplicated", metadata=spelled("S3DataDistributionType"))
    attribute_names: Sequence[str] = field(default=(), metadata=spelled("AttributeNames"))
    instance_groups: Sequence[str] = field(default=(), metadata=spelled("InstanceGroupNames"))
    accept_eula: bool | None = field(default=None, metadata=spelled("ModelAccessConfig", inside="AcceptEula"))
    hub_content_arn: str | None = field(default=None, metadata=spelled("HubAccessConfig", inside="HubContentArn"))
