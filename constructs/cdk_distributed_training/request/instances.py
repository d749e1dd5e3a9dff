"""The machines of a training job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cdk_distributed_training.data.tables import InstanceType, instance_types
from cdk_distributed_training.request.instance_type_name import instance_type_name
from cdk_distributed_training.request.request_part import RequestPart, gibibytes, key_arn, seconds, spelled

if TYPE_CHECKING:
    import aws_cdk as cdk
    from aws_cdk import aws_kms as kms

    from cdk_distributed_training.request.instance_group import InstanceGroup
    from cdk_distributed_training.request.instance_placement import InstancePlacement
    from cdk_distributed_training.request.instance_preference import InstancePreference

# large enough for a container, the code and a model; SageMaker ignores it where the type has local NVMe storage
_DEFAULT_VOLUME_GIB = 30


@dataclass(frozen=True)
class Instances(RequestPart):
    """A number of equal machines; `from_groups` and `from_preferences` make other kinds.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ResourceConfig.html

    Attributes:
        instance_type: SageMaker's name, such as `ml.p5.48xlarge`; `p5.48xlarge` means the same. A type that this
            library does not know yet passes with a warning. Of groups and preferences, the type of the first.
        count: How many; 1 unless given. An execution may override it. Of groups, all of them together.
        volume_size: Storage of each machine; 30 GiB unless given. Ignored by SageMaker where the type has local
            NVMe storage.
        volume_key: KMS key for that storage; SageMaker's own unless given. Types with local NVMe storage take none.
        keep_alive: How long the machines are kept for the next run after a run has ended, at most 6 hours; idle
            machines are billed. Not at all unless given.
        training_plan: ARN of a training plan whose machines are used; none unless given.
        placement: How the machines lie on UltraServers; SageMaker's choice unless given.
        groups: Machines of several types, at most 5 groups; use `from_groups`.
        preferences: Types of which the first with capacity is taken, at most 5; use `from_preferences`.
    """

    instance_type: str = field(metadata=spelled("InstanceType"))
    count: int = field(default=1, kw_only=True, metadata=spelled("InstanceCount"))
    volume_size: cdk.Size | None = field(default=None, kw_only=True, metadata=spelled("VolumeSizeInGB", gibibytes))
    volume_key: kms.IKey | str | None = field(default=None, kw_only=True, metadata=spelled("VolumeKmsKeyId", key_arn))
    keep_alive: cdk.Duration | None = field(
        default=None, kw_only=True, metadata=spelled("KeepAlivePeriodInSeconds", seconds)
    )
    training_plan: str | None = field(default=None, kw_only=True, metadata=spelled("TrainingPlanArn"))
    placement: InstancePlacement | None = field(default=None, kw_only=True, metadata=spelled("InstancePlacementConfig"))
    groups: Sequence[InstanceGroup] = field(default=(), kw_only=True, metadata=spelled("InstanceGroups"))
    preferences: Sequence[InstancePreference] = field(default=(), kw_only=True, metadata=spelled("InstancePreferences"))

    def __post_init__(self) -> None:
        """Complete EC2's name to SageMaker's; a token stays as it is."""
        object.__setattr__(self, "instance_type", instance_type_name(self.instance_type))

    @classmethod
    def from_groups(
        cls,
        groups: Sequence[InstanceGroup],
        *,
        volume_size: cdk.Size | None = None,
        volume_key: kms.IKey | str | None = None,
        training_plan: str | None = None,
    ) -> Instances:
        """Machines of several types in one job.

        An execution cannot override the number of machines.
        Source: https://docs.aws.amazon.com/sagemaker/latest/dg/train-heterogeneous-cluster.html

        Args:
            groups: From 1 to 5 groups of different names; the first is the one whose accelerators choose the image.
            volume_size: Storage of each machine; 30 GiB unless given.
            volume_key: KMS key for that storage; SageMaker's own unless given.
            training_plan: ARN of a training plan whose machines are used; none unless given.
        """
        return cls(
            groups[0].instance_type if groups else "",
            count=sum(group.count for group in groups),
            volume_size=volume_size,
            volume_key=volume_key,
            training_plan=training_plan,
            groups=tuple(groups),
        )

    @classmethod
    def from_preferences(
        cls,
        preferences: Sequence[InstancePreference],
        *,
        count: int | None = None,
        volume_size: cdk.Size | None = None,
        volume_key: kms.IKey | str | None = None,
        keep_alive: cdk.Duration | None = None,
        training_plan: str | None = None,
    ) -> Instances:
        """Equal machines of the first type that has capacity.

        Args:
            preferences: From 1 to 5 different types, the best first; not together with spot.
            count: How many, whichever type it is; `None` where each preference states its own number, which an
                execution cannot override.
            volume_size: Storage of each machine; 30 GiB unless given.
            volume_key: KMS key for that storage; SageMaker's own unless given.
            keep_alive: How long the machines are kept for the next run; not at all unless given.
            training_plan: ARN of a training plan for all types; none unless given.
        """
        counted = [preference.count for preference in preferences if preference.count is not None]
        if count is None and not counted:
            count = 1
        return cls(
            preferences[0].instance_type if preferences else "",
            count=max(counted) if count is None else count,
            volume_size=volume_size,
            volume_key=volume_key,
            keep_alive=keep_alive,
            training_plan=training_plan,
            preferences=tuple(preferences),
        )

    @property
    def facts(self) -> InstanceType | None:
        """What the table of instance types says of the type; `None` if it has no row for it."""
        return instance_types().get(self.instance_type)

    @property
    def types(self) -> tuple[str, ...]:
        """All types that the job runs on or may run on."""
        named = [*(group.instance_type for group in self.groups), *(row.instance_type for row in self.preferences)]
        return tuple(dict.fromkeys(named)) or (self.instance_type,)

    @property
    def alternatives(self) -> tuple[tuple[Instances, ...], ...]:
        """What the job may run on: for each choice that SageMaker has, the equal machines that it takes together."""
        if self.preferences:
            return tuple(
                (Instances(row.instance_type, count=self.count if row.count is None else row.count),)
                for row in self.preferences
            )
        if self.groups:
            return (tuple(Instances(group.instance_type, count=group.count) for group in self.groups),)
        return ((self,),)

    def render(self) -> dict[str, Any]:
        """The request's `ResourceConfig`."""
        rendered = super().render()
        if self.groups or self.preferences:
            del rendered["InstanceType"]
        own_counts = [preference.count for preference in self.preferences if preference.count is not None]
        # a number of its own beside the preferences' numbers stays, for the rule about it to refuse
        if self.groups or (own_counts and self.count == max(own_counts)):
            del rendered["InstanceCount"]
        rendered.setdefault("VolumeSizeInGB", _DEFAULT_VOLUME_GIB)
        return rendered
