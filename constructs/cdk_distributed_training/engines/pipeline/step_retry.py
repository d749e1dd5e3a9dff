"""After which errors a step of a pipeline is tried again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import aws_cdk as cdk

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules.engines import in_range
from cdk_distributed_training.checks.words import unknown_words
from cdk_distributed_training.tokens import known

StepError = Literal[
    "SageMaker.CAPACITY_ERROR",
    "SageMaker.JOB_INTERNAL_ERROR",
    "SageMaker.RESOURCE_LIMIT",
    "Step.SERVICE_FAULT",
    "Step.THROTTLING",
]
_SOURCE = "https://docs.aws.amazon.com/sagemaker/latest/dg/pipelines-retry-policy.html"
_LARGEST = 2**31 - 1


@dataclass(frozen=True, kw_only=True)
class StepRetry:
    """A pipeline's own retries of the training step; each starts a new training job.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/pipelines-retry-policy.html

    Attributes:
        errors: The errors.
        interval: Time before the first retry; a minute unless given.
        backoff_rate: By how much it grows each time; doubled unless given.
        max_attempts: Number of retries; five unless given.
        expire_after: Time after which there are no more retries, in place of `max_attempts`.
    """

    errors: Sequence[StepError]
    interval: cdk.Duration | None = None
    backoff_rate: float = 2
    max_attempts: float = 5
    expire_after: cdk.Duration | None = None

    def findings(self) -> Iterator[Finding]:
        """What is wrong with it."""
        yield from unknown_words("retries.errors", self.errors, StepError)
        if known(self.max_attempts):
            yield from in_range("retries.max_attempts", self.max_attempts, 1, _LARGEST, _SOURCE)
        if known(self.backoff_rate):
            yield from in_range("retries.backoff_rate", self.backoff_rate, 1, _LARGEST, _SOURCE, whole=False)

    def render(self) -> dict[str, Any]:
        """The policy as a pipeline's definition has it."""
        interval = 60 if self.interval is None else self.interval.to_seconds(integral=False)
        limit: dict[str, Any] = {"MaxAttempts": self.max_attempts}
        if self.expire_after is not None:
            limit = {"ExpireAfterMin": self.expire_after.to_minutes(integral=False)}
        return {
            "ExceptionType": list(self.errors),
            "IntervalSeconds": interval,
            "BackoffRate": self.backoff_rate,
            **limit,
        }


# nothing ran and nothing is billed after these
START_RETRIES = (StepRetry(errors=["SageMaker.CAPACITY_ERROR", "SageMaker.RESOURCE_LIMIT"]),)
