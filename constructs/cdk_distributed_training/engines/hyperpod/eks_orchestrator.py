"""EKS as a cluster's orchestrator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_iam as iam

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules import hyperpod as rules
from cdk_distributed_training.engines.hyperpod.cluster_orchestrator import ClusterOrchestrator
from cdk_distributed_training.engines.hyperpod.eks_cluster import IEksCluster
from cdk_distributed_training.engines.hyperpod.instance_group import HyperPodInstanceGroup
from cdk_distributed_training.engines.hyperpod.lifecycle import HyperPodLifecycle, eks_lifecycle
from cdk_distributed_training.network.interfaces import ITrainingNetwork
from cdk_distributed_training.storage.interfaces import ILustreFileSystem

# the network plugin gives pods addresses of the node's interfaces, containerd pulls images, pods take on roles
_NODE_ACTIONS = (
    "ec2:AssignPrivateIpAddresses",
    "ec2:AttachNetworkInterface",
    "ec2:DescribeInstances",
    "ec2:DescribeInstanceTypes",
    "ec2:DescribeTags",
    "ec2:ModifyNetworkInterfaceAttribute",
    "ec2:UnassignPrivateIpAddresses",
    "ecr:BatchCheckLayerAvailability",
    "ecr:BatchGetImage",
    "ecr:GetAuthorizationToken",
    "ecr:GetDownloadUrlForLayer",
    "eks-auth:AssumeRoleForPodIdentity",
)


class EksOrchestrator(ClusterOrchestrator):
    """Use `HyperPodOrchestrator.eks`."""

    def __init__(self, cluster: IEksCluster) -> None:
        self._cluster = cluster

    def findings(self, groups: Sequence[HyperPodInstanceGroup], network: ITrainingNetwork) -> Iterator[Finding]:
        from aws_cdk import aws_eks as eks  # noqa: PLC0415  clusters with Slurm do without it

        del groups
        mode = None
        if isinstance(self._cluster, eks.Cluster):  # made here, so that nothing said means EKS's default
            mode = (self._cluster.authentication_mode or eks.AuthenticationMode.CONFIG_MAP).name
        yield from rules.eks_cluster(_literal(self._cluster.vpc.vpc_id), _literal(network.vpc.vpc_id), mode)

    def slurm_node(self, group: HyperPodInstanceGroup) -> str | None:
        del group
        return None

    def render(self) -> dict[str, Any]:
        return {"eks": {"clusterArn": self._cluster.cluster_arn}}

    def group_properties(
        self, group: HyperPodInstanceGroup, file_system: ILustreFileSystem | None, mount_path: str
    ) -> dict[str, Any]:
        del group, file_system, mount_path  # pods mount it by FSx's CSI driver
        return {}

    def default_lifecycle(self) -> HyperPodLifecycle | None:
        return eks_lifecycle()

    def security_group_ids(self) -> Sequence[str]:
        return [self._cluster.cluster_security_group.security_group_id]

    def node_statements(self) -> Sequence[iam.PolicyStatement]:
        return [iam.PolicyStatement(actions=list(_NODE_ACTIONS), resources=["*"])]


def _literal(value: str) -> str | None:
    return None if cdk.Token.is_unresolved(value) else value
