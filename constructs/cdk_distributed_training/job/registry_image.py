"""Images that the user names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cdk_distributed_training.checks.annotations import annotate_warnings
from cdk_distributed_training.checks.findings import raise_errors
from cdk_distributed_training.checks.rules import image as rules
from cdk_distributed_training.job.allow import allow
from cdk_distributed_training.job.container_image import ContainerImage
from cdk_distributed_training.job.tokens import partition
from cdk_distributed_training.request import limits
from cdk_distributed_training.request.instances import Instances
from cdk_distributed_training.tokens import known

if TYPE_CHECKING:
    from aws_cdk import aws_ecr as ecr
    from aws_cdk import aws_iam as iam
    from constructs import Construct

_ECR = re.compile(
    r"(?P<account>\d{12})\.dkr\.ecr(-fips)?\.(?P<region>[a-z0-9-]+)\.[a-z0-9.-]+/(?P<repository>[^:@]+)([:@].+)?"
)


class RepositoryImage(ContainerImage):
    """An image in an ECR repository that the app knows."""

    def __init__(self, repository: ecr.IRepository, tag_or_digest: str, *, launcher_inside: bool = False) -> None:
        """Use `TrainingImage.from_ecr_repository`."""
        self.launcher_inside = launcher_inside
        self._repository = repository
        self._tag_or_digest = tag_or_digest

    def bind(self, scope: Construct, *, instances: Instances, grantee: iam.IGrantable) -> str:
        """Allow the grantee to pull, and return the address."""
        self._repository.grant_pull(grantee)
        return self._repository.repository_uri_for_tag_or_digest(self._tag_or_digest)


class UriImage(ContainerImage):
    """An image by its address."""

    def __init__(self, uri: str, *, launcher_inside: bool = False) -> None:
        """Use `TrainingImage.from_uri`."""
        self.launcher_inside = launcher_inside
        self._uri = uri

    def bind(self, scope: Construct, *, instances: Instances, grantee: iam.IGrantable) -> str:
        """Allow the grantee to pull if the address says from where, and return the address."""
        if known(self._uri):
            raise_errors(rules.uri(self._uri, limits.IMAGE.longest), where=scope.node.path)
        address = _ECR.fullmatch(self._uri)
        if address is None:
            shown = self._uri if known(self._uri) else "an address that is a token"
            annotate_warnings(scope, [rules.unreadable_registry(shown)])
        else:
            grant_pull(grantee, address["account"], address["region"], address["repository"])
        return self._uri


def grant_pull(grantee: iam.IGrantable, account: str, region: str, repository: str) -> None:
    """Allow to pull from exactly one repository."""
    actions = ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]
    arn = f"arn:{partition()}:ecr:{region}:{account}:repository/{repository}"
    allow(grantee, actions, [arn])
    allow(grantee, ["ecr:GetAuthorizationToken"], ["*"])
