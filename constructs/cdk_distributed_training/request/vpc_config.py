"""Where in a network the machines are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from cdk_distributed_training.request.request_part import RequestPart, spelled


@dataclass(frozen=True, kw_only=True)
class VpcConfig(RequestPart):
    """Subnets and security groups of the machines.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_VpcConfig.html

    Attributes:
        subnet_ids: At most 16; this library gives one, so that all machines are close to each other.
        security_group_ids: At most 5.
    """

    subnet_ids: Sequence[str] = field(metadata=spelled("Subnets"))
    security_group_ids: Sequence[str] = field(metadata=spelled("SecurityGroupIds"))
