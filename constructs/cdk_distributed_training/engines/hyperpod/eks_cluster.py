"""What a cluster of HyperPod needs of a cluster of EKS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from aws_cdk import aws_ec2 as ec2


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
