"""Where TensorBoard's events live."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from cdk_distributed_training.request.output_folder import OutputFolder
from cdk_distributed_training.request.request_part import spelled


@dataclass(frozen=True, kw_only=True)
class TensorBoardConfig(OutputFolder):
    """A folder of events that SageMaker copies to S3 while the job runs.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_TensorBoardOutputConfig.html

    Attributes:
        bucket: The bucket; the job's output bucket unless given.
        prefix: The folder in the bucket; `tensorboard/` and the job's name unless given.
        local_path: The folder in the container, to which the script writes.
    """

    folder: ClassVar[str] = "tensorboard"

    local_path: str = field(default="/opt/ml/output/tensorboard", metadata=spelled("LocalPath"))
