"""The states that a training job goes through, named as SageMaker names them.

https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DescribeTrainingJob.html
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass

STARTING = "Starting"
DOWNLOADING = "Downloading"
TRAINING = "Training"
STOPPING = "Stopping"
UPLOADING = "Uploading"
COMPLETED = "Completed"
FAILED = "Failed"
STOPPED = "Stopped"
MAX_RUNTIME_EXCEEDED = "MaxRuntimeExceeded"
MAX_WAIT_TIME_EXCEEDED = "MaxWaitTimeExceeded"

_TRAINING_JOB_STATUS = {
    COMPLETED: "Completed",
    FAILED: "Failed",
    STOPPED: "Stopped",
    MAX_RUNTIME_EXCEEDED: "Stopped",
    MAX_WAIT_TIME_EXCEEDED: "Stopped",
    STOPPING: "Stopping",
}


@dataclass(frozen=True, kw_only=True)
class Transition:
    """The begin of a secondary status.

    Attributes:
        status: The secondary status.
        start_time: When it began, UTC.
        message: What SageMaker would show with it.
    """

    status: str
    start_time: datetime.datetime
    message: str = ""


def training_job_status(secondary_status: str) -> str:
    """`TrainingJobStatus` that goes with a secondary status: InProgress, Completed, Failed, Stopping or Stopped."""
    return _TRAINING_JOB_STATUS.get(secondary_status, "InProgress")
