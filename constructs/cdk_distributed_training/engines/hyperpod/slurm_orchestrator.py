"""Slurm as a cluster's orchestrator, set up through the API."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import aws_cdk as cdk
from aws_cdk import aws_iam as iam

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules import hyperpod as rules
from cdk_distributed_training.engines.hyperpod.cluster_orchestrator import ClusterOrchestrator
from cdk_distributed_training.engines.hyperpod.instance_group import HyperPodInstanceGroup
from cdk_distributed_training.engines.hyperpod.lifecycle import HyperPodLifecycle
from cdk_distributed_training.network.interfaces import ITrainingNetwork
from cdk_distributed_training.storage.interfaces import ILustreFileSystem

SlurmConfigStrategy = Literal["Managed", "Merge", "Overwrite"]


class SlurmOrchestrator(ClusterOrchestrator):
    """Use `HyperPodOrchestrator.slurm`."""

    def __init__(self, controller_group: str, login_group: str | None, config_strategy: SlurmConfigStrategy) -> None:
        self._controller_group = controller_group
        self._login_group = login_group
        self._config_strategy = config_strategy

    def findings(self, groups: Sequence[HyperPodInstanceGroup], network: ITrainingNetwork) -> Iterator[Finding]:
        del network
        names = [*(group.name for group in groups), self._controller_group, self._login_group]
        if not any(name is not None and cdk.Token.is_unresolved(name) for name in names):
            counts = {group.name: group.machines for group in groups}
            yield from rules.slurm_groups(counts, self._controller_group, self._login_group)

    def slurm_node(self, group: HyperPodInstanceGroup) -> str | None:
        return {self._controller_group: "Controller", self._login_group: "Login"}.get(group.name, "Compute")

    def render(self) -> dict[str, Any]:
        return {"slurm": {"slurmConfigStrategy": self._config_strategy}}

    def group_properties(
        self, group: HyperPodInstanceGroup, file_system: ILustreFileSystem | None, mount_path: str
    ) -> dict[str, Any]:
        node = self.slurm_node(group)
        partitions = {"partitionNames": [group.partition or group.name]} if node == "Compute" else {}
        mount = {} if file_system is None else _mount(file_system, mount_path)
        return {"slurmConfig": {"nodeType": node, **partitions}, **mount}

    def default_lifecycle(self) -> HyperPodLifecycle | None:
        return None

    def security_group_ids(self) -> Sequence[str]:
        return ()

    def node_statements(self) -> Sequence[iam.PolicyStatement]:
        return ()


def _mount(file_system: ILustreFileSystem, mount_path: str) -> dict[str, Any]:
    return {
        "instanceStorageConfigs": [
            {
                "fsxLustreConfig": {
                    "dnsName": file_system.dns_name,
                    "mountName": file_system.mount_name,
                    "mountPath": mount_path,
                }
            }
        ]
    }
