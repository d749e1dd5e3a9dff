"""What shares out the nodes of a HyperPod cluster: Slurm or EKS."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.engines.hyperpod.instance_group import HyperPodInstanceGroup
from cdk_distributed_training.engines.hyperpod.lifecycle import HyperPodLifecycle
from cdk_distributed_training.network.interfaces import ITrainingNetwork
from cdk_distributed_training.storage.interfaces import ILustreFileSystem

if TYPE_CHECKING:
    from aws_cdk import aws_ec2 as ec2
    from aws_cdk import aws_iam as iam

SlurmConfigStrategy = Literal["Managed", "Merge", "Overwrite"]


class IEksCluster(Protocol):
    """A cluster of EKS: `ICluster` of `aws_cdk.aws_eks` or of `aws_cdk.aws_eks_v2`."""

    @property
    def cluster_arn(self) -> str:
        """The cluster's ARN."""
        ...

    @property
    def cluster_security_group(self) -> ec2.ISecurityGroup:
        """The group that EKS made for control plane and nodes, open to itself."""
        ...

    @property
    def vpc(self) -> ec2.IVpc:
        """The VPC of the control plane."""
        ...


class HyperPodOrchestrator(ABC):
    """Slurm or EKS. Make one with `slurm` or `eks`."""

    @staticmethod
    def slurm(
        *, controller_group: str, login_group: str | None = None, config_strategy: SlurmConfigStrategy = "Managed"
    ) -> HyperPodOrchestrator:
        """Slurm, which HyperPod sets up from the groups themselves.

        Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ref.html

        Args:
            controller_group: Name of the group of one machine where Slurm's controller runs.
            login_group: Name of the group that people log in to; they log in to the controller unless given.
            config_strategy: What happens to `slurm.conf` at an update: with `Managed` the template alone says which
                node is in which partition, and an update fails if somebody changed that on the machine; `Merge` keeps
                such changes; `Overwrite` undoes them.
        """
        from cdk_distributed_training.engines.hyperpod.slurm_orchestrator import SlurmOrchestrator  # noqa: PLC0415

        return SlurmOrchestrator(controller_group, login_group, config_strategy)

    @staticmethod
    def eks(cluster: IEksCluster) -> HyperPodOrchestrator:
        """An EKS cluster that exists, whose nodes HyperPod provides.

        The nodes get the EKS cluster's own security group besides the network's, so that control plane and pods reach
        each other. SageMaker makes the access entry of the nodes' roles itself, with the permissions of who deploys:
        `eks:CreateAccessEntry`, `eks:DescribeAccessEntry`, `eks:DeleteAccessEntry`, `eks:AssociateAccessPolicy` and
        `eks:DescribeCluster`. Before the first deployment, HyperPod's Helm chart must be in the cluster;
        docs/hyperpod.md has the commands.
        Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html

        Args:
            cluster: The EKS cluster, in the network's VPC, with the authentication mode `API` or
                `API_AND_CONFIG_MAP`.
        """
        from cdk_distributed_training.engines.hyperpod.eks_orchestrator import EksOrchestrator  # noqa: PLC0415

        return EksOrchestrator(cluster)

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
