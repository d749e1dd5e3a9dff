"""A training job is one `CreateTrainingJob` request; this is the one place that spells it.

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTrainingJob.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cdk_distributed_training.request.instances import Instances


@dataclass(frozen=True, kw_only=True)
class TrainingJobRequest:
    """All that a job asks of SageMaker, without a name; any text or number may be a CDK token.

    Attributes:
        role_arn: Role that the job runs as.
        image_uri: The container's image.
        entrypoint: The container's command.
        arguments: What follows the command.
        channels: `InputDataConfig` entries.
        output_path: S3 address under which SageMaker stores the model.
        instances: The machines.
        max_runtime: Seconds until SageMaker stops the job.
        max_wait: Seconds until SageMaker gives up on spare capacity; `None` trains on demand.
        hyperparameters: Names and texts.
        environment: Variables of the container.
        subnet_ids: Subnets of the machines.
        security_group_ids: Security groups of the machines.
        checkpoint: S3 address and local folder of the checkpoints; `None` keeps none.
        encrypt_inter_container_traffic: Whether SageMaker encrypts what the machines say to each other.
        network_isolation: Whether the containers can call nobody but each other.
    """

    role_arn: str
    image_uri: str
    entrypoint: Sequence[str]
    arguments: Sequence[str]
    channels: Sequence[Mapping[str, Any]]
    output_path: str
    instances: Instances
    max_runtime: float
    max_wait: float | None = None
    hyperparameters: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    subnet_ids: Sequence[str] = ()
    security_group_ids: Sequence[str] = ()
    checkpoint: tuple[str, str] | None = None
    encrypt_inter_container_traffic: bool = False
    network_isolation: bool = False

    def render(self) -> dict[str, Any]:
        """The request; members that are not asked for are absent, never null."""
        request: dict[str, Any] = {
            "RoleArn": self.role_arn,
            "AlgorithmSpecification": {
                "TrainingImage": self.image_uri,
                "TrainingInputMode": "File",
                "ContainerEntrypoint": list(self.entrypoint),
                "ContainerArguments": list(self.arguments),
                "EnableSageMakerMetricsTimeSeries": True,
            },
            "InputDataConfig": [dict(channel) for channel in self.channels],
            "OutputDataConfig": {"S3OutputPath": self.output_path},
            "ResourceConfig": self.instances.render(),
            "StoppingCondition": {"MaxRuntimeInSeconds": self.max_runtime},
            "EnableNetworkIsolation": self.network_isolation,
            "EnableInterContainerTrafficEncryption": self.encrypt_inter_container_traffic,
        }
        if self.subnet_ids:
            request["VpcConfig"] = {
                "Subnets": list(self.subnet_ids),
                "SecurityGroupIds": list(self.security_group_ids),
            }
        if self.max_wait is not None:
            request["EnableManagedSpotTraining"] = True
            request["StoppingCondition"]["MaxWaitTimeInSeconds"] = self.max_wait
        if self.checkpoint is not None:
            uri, local_path = self.checkpoint
            request["CheckpointConfig"] = {"S3Uri": uri, "LocalPath": local_path}
        if self.hyperparameters:
            request["HyperParameters"] = dict(self.hyperparameters)
        if self.environment:
            request["Environment"] = dict(self.environment)
        return request
