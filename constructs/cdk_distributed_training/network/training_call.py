"""What a training script calls besides S3, and the endpoints that this takes in a closed subnet."""

from __future__ import annotations

import enum
from collections.abc import Sequence

from aws_cdk import aws_ec2 as ec2


class TrainingCall(enum.Enum):
    """A kind of call out of the container; each member's value lists the endpoints that it takes.

    SageMaker itself pulls the image, sends the container's output to CloudWatch and moves S3 channels: that takes no
    interface endpoint.

    Source: https://docs.aws.amazon.com/vpc/latest/privatelink/aws-services-privatelink-support.html
    """

    LOGS = ("logs",)
    """Writes logs of its own to CloudWatch Logs."""
    METRICS = ("monitoring",)
    """Puts metrics to CloudWatch."""
    SAGEMAKER_API = ("sagemaker.api",)
    """Calls SageMaker, for example to describe its own job."""
    STS = ("sts",)
    """Takes on roles, by the regional address."""
    EXPERIMENTS = ("sagemaker.metrics",)
    """Sends metrics of a run to SageMaker Experiments."""
    IMAGES = ("ecr.api", "ecr.dkr")
    """Pulls images: for an image of a registry in the VPC, or from inside of the container."""
    ECS = ("ecs", "ecs-agent", "ecs-telemetry")
    """Machines of one's own take containers from Amazon ECS, as those of a `MultiNodeParallelJob` do."""
    KMS = ("kms",)
    """Encrypts or decrypts with KMS itself."""
    REMOTE_DEBUG = ("ssm", "ssmmessages", "ec2messages")
    """Lets people open a shell in the container (`RemoteDebugConfig`)."""
    SECRETS = ("secretsmanager",)
    """Reads secrets."""
    FSX = ("fsx",)
    """Calls the FSx API, for example to export results to S3."""
    STEP_FUNCTIONS = ("states",)
    """Reports to a state machine."""
    XRAY = ("xray",)
    """Sends traces."""

    @property
    def services(self) -> Sequence[ec2.InterfaceVpcEndpointAwsService]:
        """The endpoints that it takes."""
        return [ec2.InterfaceVpcEndpointAwsService(name) for name in self.value]


USUAL_CALLS = (TrainingCall.LOGS, TrainingCall.METRICS, TrainingCall.SAGEMAKER_API, TrainingCall.STS)
"""What a training script in a closed subnet usually calls."""
