"""Machines of several types in one job."""

from __future__ import annotations

from dataclasses import dataclass, field

from cdk_distributed_training.request.instance_type_name import instance_type_name
from cdk_distributed_training.request.request_part import RequestPart, spelled


@dataclass(frozen=True, kw_only=True)
class InstanceGroup(RequestPart):
    """Machines of one type among others: channels and distributions may be for some groups only.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_InstanceGroup.html

    Attributes:
        name: Name of the group, at most 64 characters.
        instance_type: SageMaker's name, such as `ml.p5.48xlarge`; `p5.48xlarge` means the same.
        count: How many.
    """

    name: str = field(metadata=spelled("InstanceGroupName"))
    instance_type: str = field(metadata=spelled("InstanceType"))
    count: int = field(default=1, metadata=spelled("InstanceCount"))

    def __post_init__(self) -> None:
        """Complete EC2's name to SageMaker's."""
        object.__setattr__(self, "instance_type", instance_type_name(self.instance_type))
