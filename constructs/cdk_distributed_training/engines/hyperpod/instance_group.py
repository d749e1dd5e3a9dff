"""Equal nodes of a HyperPod cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import aws_cdk as cdk

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules import engines as engine_rules
from cdk_distributed_training.checks.rules import hyperpod as rules
from cdk_distributed_training.engines.hyperpod.lifecycle import HyperPodLifecycle
from cdk_distributed_training.network.interfaces import ITrainingNetwork
from cdk_distributed_training.request.instances import Instances

if TYPE_CHECKING:
    from aws_cdk import aws_iam as iam

DeepHealthCheck = Literal["InstanceStress", "InstanceConnectivity", "MultiNodeTrainingValidation"]
_GROUP = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterInstanceGroupSpecification.html"
_VOLUME = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterEbsVolumeConfig.html"
_MOST_MACHINES = 6758
_LARGEST_VOLUME = 16384
# of a training job's machines, what those of a cluster do not have
_OF_JOBS_ONLY = ("groups", "preferences", "keep_alive", "placement")


@dataclass(frozen=True, kw_only=True)
class HyperPodInstanceGroup:
    """A number of equal nodes that HyperPod keeps running, and replaces when they fail.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterInstanceGroupSpecification.html

    Attributes:
        name: The group's name: letters, digits and, inside, hyphens, at most 63 characters.
        instances: The machines: type, count, and where given `volume_size` (a further volume of 1 to 16,384 GiB),
            its `volume_key`, and the `training_plan` that they come from.
        deep_health_checks: Tests that a new node must pass first, which take one to two hours: `InstanceStress`,
            `InstanceConnectivity` and, on EKS, `MultiNodeTrainingValidation`; none unless given. On Slurm for GPUs, on
            EKS for Trainium too.
        training_plan_zone_id: Id of the zone of the training plan's machines, such as `use1-az4`; compared with the
            network's where both are known. Not compared unless given.
        threads_per_core: 1 or 2; 1 switches multithreading off. The type's own unless given.
        partition: Name of the group's Slurm partition, besides `dev`, in which HyperPod puts all; the group's name
            unless given.
        lifecycle: Scripts that run when a node starts; none on Slurm, a small one of this library's on EKS unless
            given.
        network: Where the nodes are if not in the cluster's own network; in the same VPC.
        role: Role of the nodes; a new one with what they need and no more unless given. A policy with the same is
            attached to it.
    """

    name: str
    instances: Instances
    deep_health_checks: Sequence[DeepHealthCheck] = ()
    training_plan_zone_id: str | None = None
    threads_per_core: int | None = None
    partition: str | None = None
    lifecycle: HyperPodLifecycle | None = None
    network: ITrainingNetwork | None = None
    role: iam.IRole | None = None

    @property
    def machines(self) -> float | None:
        """How many nodes; None if only deployment knows."""
        count = self.instances.count
        return None if cdk.Token.is_unresolved(count) else count

    def findings(self, *, slurm_node: str | None, zone_id: str | None) -> Iterator[Finding]:
        """What is wrong with it.

        Args:
            slurm_node: The group's part in a Slurm cluster; None on EKS.
            zone_id: Id of the zone of the cluster's network; None where nobody knows it.
        """
        instances, type_name = self.instances, self.instances.instance_type
        yield from engine_rules.expressible(
            "a HyperPod cluster",
            {f"instances.{name}": False for name in _OF_JOBS_ONLY if getattr(instances, name)},
            _GROUP,
        )
        volume = None if instances.volume_size is None else instances.volume_size.to_gibibytes()
        numbers = [
            ("instances.count", instances.count, 0, _MOST_MACHINES, _GROUP),
            ("threads_per_core", self.threads_per_core, 1, 2, _GROUP),
            ("instances.volume_size", volume, 1, _LARGEST_VOLUME, _VOLUME),
        ]
        for prop, value, low, high, source in numbers:
            if value is not None and not cdk.Token.is_unresolved(value):
                yield from engine_rules.in_range(f"instance_groups.{prop}", value, low, high, source)
        if not cdk.Token.is_unresolved(type_name):
            yield from rules.instance_type(type_name)
            yield from rules.deep_health_checks(list(self.deep_health_checks), type_name, slurm_node)
        if self.partition is not None and not cdk.Token.is_unresolved(self.partition):
            yield from rules.partition(self.partition, slurm_node)
        if self.lifecycle is not None:
            yield from self.lifecycle.findings(slurm=slurm_node is not None)
        plan, zone = instances.training_plan, zone_id if self.network is None else self.network.availability_zone_id
        if plan is not None and not any(map(cdk.Token.is_unresolved, (plan, type_name))):
            yield from rules.training_plan(plan, type_name, _literal(self.training_plan_zone_id), _literal(zone))

    def properties(self) -> dict[str, Any]:
        """Its part of the cluster's properties that depends on nothing else, spelled as CDK's own code has them."""
        instances = self.instances
        volume: dict[str, Any] = {}
        if instances.volume_size is not None:
            volume["volumeSizeInGb"] = instances.volume_size.to_gibibytes()
        if instances.volume_key is not None:
            key = instances.volume_key
            volume["volumeKmsKeyId"] = key if isinstance(key, str) else key.key_arn
        given = {
            "instanceGroupName": self.name,
            "instanceType": instances.instance_type,
            "instanceCount": instances.count,
            "threadsPerCore": self.threads_per_core,
            "onStartDeepHealthChecks": list(self.deep_health_checks) or None,
            "trainingPlanArn": instances.training_plan,
            "instanceStorageConfigs": [{"ebsVolumeConfig": volume}] if volume else [],
            "overrideVpcConfig": None if self.network is None else vpc_config(self.network),
        }
        return {name: value for name, value in given.items() if value is not None}


def vpc_config(network: ITrainingNetwork, more_groups: Sequence[str] = ()) -> dict[str, Any]:
    """A network as the cluster's properties name it."""
    return {
        "subnets": [network.subnet.subnet_id],
        "securityGroupIds": [*(group.security_group_id for group in network.security_groups), *more_groups],
    }


def _literal(value: str | None) -> str | None:
    return None if value is None or cdk.Token.is_unresolved(value) else value
