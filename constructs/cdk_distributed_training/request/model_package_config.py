"""Where a customized model is registered."""

from __future__ import annotations

from dataclasses import dataclass, field

from cdk_distributed_training.request.request_part import RequestPart, spelled


@dataclass(frozen=True, kw_only=True)
class ModelPackageConfig(RequestPart):
    """The model registry's group for what the job makes.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ModelPackageConfig.html

    Attributes:
        group_arn: ARN of the model package group, in which each run makes a version.
        source_arn: ARN of the model package that the job goes on from, or that an evaluation is about; the base model
            unless given.
    """

    group_arn: str = field(metadata=spelled("ModelPackageGroupArn"))
    source_arn: str | None = field(default=None, metadata=spelled("SourceModelPackageArn"))
