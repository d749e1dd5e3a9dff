"""How an image is pulled that is not in ECR."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from cdk_distributed_training.request.request_part import RequestPart, spelled


@dataclass(frozen=True, kw_only=True)
class RegistryAccess(RequestPart):
    """The way to a registry, and who knows the password.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_TrainingImageConfig.html

    Attributes:
        mode: `Vpc` pulls through the job's network, from any registry that it reaches; `Platform` from ECR.
        credentials_provider_arn: ARN of a Lambda function that gives user name and password; `None` for a registry
            that asks for none.
    """

    mode: Literal["Vpc", "Platform"] = field(default="Vpc", metadata=spelled("TrainingRepositoryAccessMode"))
    credentials_provider_arn: str | None = field(
        default=None,
        metadata=spelled("TrainingRepositoryAuthConfig", inside="TrainingRepositoryCredentialsProviderArn"),
    )
