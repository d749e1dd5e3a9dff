"""AWS's images with the model parallel library, version 2."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk_distributed_training.checks.findings import raise_errors
from cdk_distributed_training.checks.rules import image as rules
from cdk_distributed_training.data.tables import model_parallel_containers
from cdk_distributed_training.job.container_image import ContainerImage
from cdk_distributed_training.job.registry_image import grant_pull
from cdk_distributed_training.request.instances import Instances
from cdk_distributed_training.tokens import known


class ModelParallelImage(ContainerImage):
    """An image of the repository that holds the model parallel library."""

    def __init__(self, *, framework_version: str | None) -> None:
        """Use `TrainingImage.from_model_parallel_container`."""
        self._framework_version = framework_version

    def bind(self, scope: Construct, *, instances: Instances, grantee: iam.IGrantable) -> str:
        """Choose the image, allow the grantee to pull it, and return its address."""
        table = model_parallel_containers()
        region = cdk.Stack.of(scope).region
        # in a stack for any region the deployment settles whether there is an image
        if known(region):
            raise_errors(rules.region(region, table.regions), where=scope.node.path)
        wanted = self._framework_version or next(reversed(table.tags))
        raise_errors(rules.framework_version(wanted, "SMP", list(table.tags)), where=scope.node.path)
        tag = next(tag for version, tag in reversed(table.tags.items()) if f"{version}.".startswith(f"{wanted}."))
        grant_pull(grantee, table.account, region, table.repository)
        suffix = cdk.Stack.of(scope).url_suffix
        return f"{table.account}.dkr.ecr.{region}.{suffix}/{table.repository}:{tag}"
