"""What every orchestrator is to a cluster of HyperPod."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.engines.hyperpod.instance_group import HyperPodInstanceGroup
from cdk_distributed_training.engines.hyperpod.lifecycle import HyperPodLifecycle
from cdk_distributed_training.network.interfaces import ITrainingNetwork
from cdk_distributed_training.storage.interfaces import ILustreFileSystem

if TYPE_CHECKING:
    from aws_cdk import aws_iam as iam


class ClusterOrchestrator(ABC):
    """What shares out a cluster's nodes; `HyperPodOrchestrator` makes them and holds one."""

    @abstractmethod
    def findings(self, groups: Sequence[HyperPodInstanceGroup], network: ITrainingNetwork) -> Iterator[Finding]:
        """What is wrong with it.

        Args:
            groups: The cluster's groups.
            network: The cluster's network.
        """

    @abstractmethod
    def slurm_node(self, group: HyperPodInstanceGroup) -> str | None:
        """The group's part in a Slurm cluster: `Controller`, `Login` or `Compute`; None on EKS."""

    @abstractmethod
    def render(self) -> dict[str, Any]:
        """The cluster's property `Orchestrator`."""

    @abstractmethod
    def group_properties(
        self, group: HyperPodInstanceGroup, file_system: ILustreFileSystem | None, mount_path: str
    ) -> dict[str, Any]:
        """What a group has besides its own properties.

        Args:
            group: The group.
            file_system: The file system that nodes mount.
            mount_path: Where they mount it.
        """

    @abstractmethod
    def default_lifecycle(self) -> HyperPodLifecycle | None:
        """The scripts of groups that have none of their own."""

    @abstractmethod
    def security_group_ids(self) -> Sequence[str]:
        """Groups that the nodes get besides the network's."""

    @abstractmethod
    def node_statements(self) -> Sequence[iam.PolicyStatement]:
        """What nodes must be allowed besides what all nodes are."""
