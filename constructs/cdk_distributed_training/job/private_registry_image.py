"""Images of registries that are not ECR."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cdk_distributed_training.checks.findings import raise_errors
from cdk_distributed_training.checks.rules import image as rules
from cdk_distributed_training.job.container_image import ContainerImage
from cdk_distributed_training.request import limits
from cdk_distributed_training.request.instances import Instances
from cdk_distributed_training.request.registry_access import RegistryAccess
from cdk_distributed_training.tokens import known

if TYPE_CHECKING:
    from aws_cdk import aws_iam as iam
    from aws_cdk import aws_lambda as lambda_
    from constructs import Construct


class PrivateRegistryImage(ContainerImage):
    """An image that SageMaker pulls through the job's own subnet."""

    def __init__(self, uri: str, *, credentials_provider: lambda_.IFunction | None, launcher_inside: bool) -> None:
        """Use `TrainingImage.from_private_registry`."""
        self._uri = uri
        self._credentials_provider = credentials_provider
        self.launcher_inside = launcher_inside
        self.registry_access = RegistryAccess(
            credentials_provider_arn=None if credentials_provider is None else credentials_provider.function_arn
        )

    def bind(self, scope: Construct, *, instances: Instances, grantee: iam.IGrantable) -> str:
        """Allow the grantee to ask for the credentials, and return the address."""
        if known(self._uri):
            raise_errors(rules.uri(self._uri, limits.IMAGE.longest), where=scope.node.path)
        if self._credentials_provider is not None:
            self._credentials_provider.grant_invoke(grantee)
        return self._uri
