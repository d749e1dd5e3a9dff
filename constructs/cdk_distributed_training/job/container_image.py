"""What every kind of image is to a job."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from cdk_distributed_training.request.instances import Instances
from cdk_distributed_training.request.registry_access import RegistryAccess

if TYPE_CHECKING:
    from aws_cdk import aws_iam as iam
    from constructs import Construct


class ContainerImage(ABC):
    """A kind of image, which grants the pull where it is used; `TrainingImage` makes them and holds one.

    Attributes:
        launcher_inside: Whether the image's entry point is this library's launcher.
        is_algorithm: Whether what `bind` returns is the name of an algorithm resource, in place of an address.
        registry_access: How the image is pulled if it is not in ECR.
    """

    launcher_inside: bool = False
    is_algorithm: bool = False
    registry_access: RegistryAccess | None = None

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
