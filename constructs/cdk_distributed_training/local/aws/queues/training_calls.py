"""The calls of SageMaker's API that a queue makes."""

from __future__ import annotations

from typing import Any

from botocore.exceptions import ClientError

from cdk_distributed_training.local.aws import clients


class TrainingCalls:
    """Training jobs by the emulation's own API."""

    def create(self, request: dict[str, Any]) -> str:
        """Create a training job; the error's code and text if it is refused, else an empty text."""
        try:
            clients.client("sagemaker").create_training_job(**request)
        except ClientError as error:
            return f"{error.response['Error']['Code']}: {error.response['Error']['Message']}"
        except Exception as error:
            # Batch passes the payload on without a look at it: a member that no client knows gets this far
            return f"ValidationException: {error}"
        return ""

    def stop(self, name: str) -> None:
        """Stop a training job, unless it has ended."""
        if self.look(name)[0] == "InProgress":
            try:
                clients.client("sagemaker").stop_training_job(TrainingJobName=name)
            except ClientError:
                # it may have ended between the look and the stop
                if self.look(name)[0] == "InProgress":
                    raise

    def look(self, name: str) -> tuple[str, str, str]:
        """Status, secondary status and reason of a failure."""
        told = clients.client("sagemaker").describe_training_job(TrainingJobName=name)
        return told["TrainingJobStatus"], told["SecondaryStatus"], told.get("FailureReason", "")
