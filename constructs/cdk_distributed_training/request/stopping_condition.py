"""When SageMaker ends a job."""

from __future__ import annotations

from dataclasses import dataclass, field

from cdk_distributed_training.request.request_part import RequestPart, spelled


@dataclass(frozen=True, kw_only=True)
class StoppingCondition(RequestPart):
    """Limits in seconds.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_StoppingCondition.html

    Attributes:
        max_runtime: Until SageMaker stops the job, from its start.
        max_wait: Until SageMaker gives up on spare capacity, running included; `None` on demand.
        max_pending: Until SageMaker gives up on a job that waits for machines of P, G or Trainium types, from 30
            minutes to 28 days; the service's own limit unless given.
    """

    max_runtime: float = field(metadata=spelled("MaxRuntimeInSeconds"))
    max_wait: float | None = field(default=None, metadata=spelled("MaxWaitTimeInSeconds"))
    max_pending: float | None = field(default=None, metadata=spelled("MaxPendingTimeInSeconds"))
