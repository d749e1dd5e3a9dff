"""The image that an algorithm resource of SageMaker's names."""

from __future__ import annotations

from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk_distributed_training.checks.annotations import annotate_warnings
from cdk_distributed_training.checks.rules import image as rules
from cdk_distributed_training.job.container_image import ContainerImage
from cdk_distributed_training.request.instances import Instances
from cdk_distributed_training.tokens import known


class AlgorithmImage(ContainerImage):
    """An image of which only the algorithm's name is known."""

    is_algorithm = True

    def __init__(self, name_or_arn: str, *, launcher_inside: bool) -> None:
        """Use `TrainingImage.from_algorithm`."""
        self._name_or_arn = name_or_arn
        self.launcher_inside = launcher_inside

    def bind(self, scope: Construct, *, instances: Instances, grantee: iam.IGrantable) -> str:
        """Say what the grantee must be allowed, and return the algorithm's name."""
        shown = repr(self._name_or_arn) if known(self._name_or_arn) else "an algorithm that is a token"
        annotate_warnings(scope, [rules.image_of_algorithm(shown)])
        return self._name_or_arn
