"""The choice of what shares out the nodes of a HyperPod cluster: Slurm or EKS."""

from __future__ import annotations

from cdk_distributed_training.engines.hyperpod.cluster_orchestrator import ClusterOrchestrator
from cdk_distributed_training.engines.hyperpod.eks_cluster import IEksCluster
from cdk_distributed_training.engines.hyperpod.eks_orchestrator import EksOrchestrator
from cdk_distributed_training.engines.hyperpod.slurm_orchestrator import SlurmConfigStrategy, SlurmOrchestrator


class HyperPodOrchestrator:
    """Slurm or EKS. Make one with `slurm` or `eks`."""

    def __init__(self, kind: ClusterOrchestrator) -> None:
        """Hold an orchestrator; `slurm` and `eks` make those that there are.

        Args:
            kind: The orchestrator.
        """
        self._kind = kind

    @property
    def kind(self) -> ClusterOrchestrator:
        """The orchestrator itself, for the cluster and its jobs."""
        return self._kind

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
        return HyperPodOrchestrator(SlurmOrchestrator(controller_group, login_group, config_strategy))

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
        return HyperPodOrchestrator(EksOrchestrator(cluster))
