"""One of several types that a job may run on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from cdk_distributed_training.request.instance_type_name import instance_type_name
from cdk_distributed_training.request.request_part import RequestPart, spelled


def _listed(training_plan: str) -> Sequence[str]:
    return [training_plan]


@dataclass(frozen=True, kw_only=True)
class InstancePreference(RequestPart):
    """A type that will do: SageMaker takes the first of the preferences that has capacity.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ResourceConfig.html

    Attributes:
        instance_type: SageMaker's name, such as `ml.p5.48xlarge`; `p5.48xlarge` means the same. Each stands once.
        count: How many of this type; `None` where one number holds for all preferences.
        training_plan: ARN of a training plan whose machines are used; none unless given.
    """

    instance_type: str = field(metadata=spelled("InstanceType"))
    count: int | None = field(default=None, metadata=spelled("InstanceCount"))
    training_plan: str | None = field(default=None, metadata=spelled("TrainingPlanArns", _listed))

    def __post_init__(self) -> None:
        """Complete EC2's name to SageMaker's."""
        object.__setattr__(self, "instance_type", instance_type_name(self.instance_type))
