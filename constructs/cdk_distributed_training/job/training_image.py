"""The container's image: a value with several makers, which grants the pull where it is used."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal

from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk_distributed_training.request.instances import Instances


class TrainingImage(ABC):
    """An image for a training job.

    Make one with `from_deep_learning_container`, `from_uri` or `from_ecr_repository`.
    """

    @staticmethod
    def from_deep_learning_container(
        framework_version: str | None = None, *, accelerator: Literal["cpu", "gpu", "neuron"] | None = None
    ) -> TrainingImage:
        """One of AWS's deep learning containers with PyTorch, from the registry of the stack's region.

        A version past its end of patch gets a warning.
        Source: https://github.com/aws/deep-learning-containers

        Args:
            framework_version: Version of PyTorch, such as `2.13` or `2.13.0`; the newest that this library knows for
                the accelerator and the region's partition unless given.
            accelerator: What the image is built for; chosen by the job's instance type unless given.
        """
        from cdk_distributed_training.job.deep_learning_container import DeepLearningContainerImage  # noqa: PLC0415

        return DeepLearningContainerImage(framework_version=framework_version, accelerator=accelerator)

    @staticmethod
    def from_uri(uri: str) -> TrainingImage:
        """Any image by its address.

        The job's role may pull it if the address is one of ECR in plain text; otherwise a warning says so. The
        repository's own policy must allow the role if it belongs to another account.

        Args:
            uri: The address, such as `111122223333.dkr.ecr.us-east-1.amazonaws.com/train:1`.
        """
        from cdk_distributed_training.job.registry_image import UriImage  # noqa: PLC0415

        return UriImage(uri)

    @staticmethod
    def from_ecr_repository(repository: ecr.IRepository, tag_or_digest: str = "latest") -> TrainingImage:
        """An image in an ECR repository; the job's role may pull it.

        Args:
            repository: The repository.
            tag_or_digest: The image's tag, or its digest beginning with `sha256:`.
        """
        from cdk_distributed_training.job.registry_image import RepositoryImage  # noqa: PLC0415

        return RepositoryImage(repository, tag_or_digest)

    @abstractmethod
    def bind(self, scope: Construct, *, instances: Instances, grantee: iam.IGrantable) -> str:
        """Allow the grantee to pull the image, and return its address.

        Args:
            scope: The job, where findings are reported.
            instances: The machines that run it.
            grantee: The job's role.

        Raises:
            ConfigurationError: There is no such image.
        """
