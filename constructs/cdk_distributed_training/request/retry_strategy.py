"""Attempts after errors of SageMaker's own."""

from __future__ import annotations

from dataclasses import dataclass, field

from cdk_distributed_training.request.request_part import RequestPart, spelled


@dataclass(frozen=True, kw_only=True)
class RetryStrategy(RequestPart):
    """How often SageMaker starts a job again that an `InternalServerError` of its own has ended.

    A failure of the script never starts a job again. The job's `max_runtime` spans all attempts.
    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_RetryStrategy.html

    Attributes:
        maximum_retry_attempts: From 1 to 30.
    """

    maximum_retry_attempts: int = field(metadata=spelled("MaximumRetryAttempts"))
