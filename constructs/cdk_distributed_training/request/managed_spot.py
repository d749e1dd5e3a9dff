"""Spare capacity at a lower price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import aws_cdk as cdk


@dataclass(frozen=True, kw_only=True)
class ManagedSpot:
    """Train on spare capacity, which SageMaker may take back: it then waits, and starts the job again.

    A job on spot always has a checkpoint folder; see `CheckpointConfig`.
    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/model-managed-spot-training.html

    Attributes:
        max_wait: Longest time from the start to the end, waiting included; at least the job's `max_runtime`.
    """

    max_wait: cdk.Duration
