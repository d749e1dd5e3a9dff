"""Who may use how much of a queue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from aws_cdk import aws_batch as batch

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules.engines import in_range
from cdk_distributed_training.checks.words import unknown_words
from cdk_distributed_training.tokens import known

_FAIR = "https://docs.aws.amazon.com/batch/latest/APIReference/API_ShareAttributes.html"
_QUOTA = "https://docs.aws.amazon.com/batch/latest/APIReference/API_CreateQuotaShare.html"
_LARGEST = 2**31 - 1
IdleMachines = Literal["RESERVE", "LEND", "LEND_AND_BORROW"]


@dataclass(frozen=True, kw_only=True)
class FairShare:
    """Part of a queue whose machines go to who has had least of them lately.

    Source: https://docs.aws.amazon.com/batch/latest/APIReference/API_ShareAttributes.html

    Attributes:
        name: The share's identifier, of letters and digits; with `*` at the end, all that begin so.
        weight: How much it counts when machines are used, from 0.0001 to 999.9999: half the weight is twice the
            machines. 1 unless given.
    """

    name: str
    weight: float = 1

    def findings(self) -> Iterator[Finding]:
        """What is wrong with it by itself."""
        if known(self.weight):
            yield from in_range("shares.weight", self.weight, 0.0001, 999.9999, _FAIR, whole=False)

    def render(self) -> batch.CfnSchedulingPolicy.ShareAttributesProperty:
        """The share as CloudFormation has it."""
        return batch.CfnSchedulingPolicy.ShareAttributesProperty(share_identifier=self.name, weight_factor=self.weight)


@dataclass(frozen=True, kw_only=True)
class QuotaShare:
    """Part of a queue with machines of its own, which it may lend to others.

    Source: https://docs.aws.amazon.com/batch/latest/APIReference/API_CreateQuotaShare.html

    Attributes:
        name: The share's name.
        max_instances: Number of machines by instance type, such as `{"ml.p5.48xlarge": 8}`.
        idle: What happens with machines that it does not use: `RESERVE` keeps them, `LEND` lends them, and
            `LEND_AND_BORROW`, which is so unless given, also takes those of others.
        borrow_limit: The most that it borrows, in percent of its own; without limit unless given.
        preemption: Whether a job of a higher priority in the same share stops one of a lower priority, which then waits
            in the queue again; not unless given.
    """

    name: str
    max_instances: Mapping[str, float] = field(default_factory=dict)
    idle: IdleMachines = "LEND_AND_BORROW"
    borrow_limit: float | None = None
    preemption: bool = False

    def findings(self) -> Iterator[Finding]:
        """What is wrong with it by itself."""
        yield from unknown_words("quota_shares.idle", [self.idle], IdleMachines)
        for count in self.max_instances.values():
            if known(count):
                yield from in_range("quota_shares.max_instances", count, 1, _LARGEST, _QUOTA)
        if not self.max_instances:
            yield from in_range("quota_shares.max_instances", 0, 1, _LARGEST, _QUOTA)
        if self.borrow_limit is not None and known(self.borrow_limit):
            most = _LARGEST if self.idle == "LEND_AND_BORROW" else -1
            yield from in_range("quota_shares.borrow_limit", self.borrow_limit, -1, most, _QUOTA)

    def properties(self) -> dict[str, Any]:
        """The share's properties in CloudFormation, besides its queue."""
        return {
            "quota_share_name": self.name,
            "capacity_limits": [
                batch.CfnQuotaShare.QuotaShareCapacityLimitProperty(capacity_unit=machine, max_capacity=count)
                for machine, count in self.max_instances.items()
            ],
            "preemption_configuration": batch.CfnQuotaShare.QuotaSharePreemptionConfigurationProperty(
                in_share_preemption="ENABLED" if self.preemption else "DISABLED"
            ),
            "resource_sharing_configuration": batch.CfnQuotaShare.QuotaShareResourceSharingConfigurationProperty(
                strategy=self.idle, borrow_limit=self.borrow_limit
            ),
        }
