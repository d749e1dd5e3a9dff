"""A queue in which training jobs wait for machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import aws_cdk as cdk
from aws_cdk import aws_batch as batch
from constructs import Construct

from cdk_distributed_training.checks.findings import Finding, raise_errors
from cdk_distributed_training.checks.rules import queues as rules
from cdk_distributed_training.checks.rules.engines import in_range
from cdk_distributed_training.engines.batch.shares import FairShare, QuotaShare
from cdk_distributed_training.tokens import known

_QUEUE = "https://docs.aws.amazon.com/batch/latest/APIReference/API_CreateJobQueue.html"
_FAIR = "https://docs.aws.amazon.com/batch/latest/APIReference/API_FairsharePolicy.html"
_LARGEST = 2**31 - 1


class ITrainingQueue(Protocol):
    """A queue for training jobs, of this app or brought along."""

    @property
    def job_queue_arn(self) -> str:
        """The queue's ARN."""

    @property
    def max_instances(self) -> float | None:
        """The most machines that run at a time; `None` if nobody knows."""

    def share_members(self, share: str | None) -> dict[str, str]:
        """How a job says in `SubmitServiceJob` which share it belongs to."""

    def share_findings(self, share: str | None) -> list[Finding]:
        """What is wrong with a job's share."""


class TrainingQueue(Construct):
    """A queue of AWS Batch for SageMaker training jobs: many jobs, a fixed number of machines, each in its turn.

    Jobs wait for capacity without failing, and never more than `max_instances` machines run at a time, which is a
    guard for costs. With `shares`, machines go to who has had least of them lately; with `quota_shares`, each share has
    machines of its own and lends them; with neither, the queue is first in, first out, whatever a job's priority.

    The account's first queue makes a role of Batch's, `AWSServiceRoleForAWSBatchWithSagemaker`: who deploys needs
    `iam:CreateServiceLinkedRole`.

    Construct ids, which are part of the interface: `Environment`, `Scheduling`, `Resource`, `Share<n>`.

    Source: https://docs.aws.amazon.com/batch/latest/userguide/service-jobs.html
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        max_instances: float,
        shares: Sequence[FairShare] = (),
        quota_shares: Sequence[QuotaShare] = (),
        share_decay: cdk.Duration | None = None,
        compute_reservation: float | None = None,
        max_head_time: cdk.Duration | None = None,
        priority: float = 1,
    ) -> None:
        """Make the queue.

        Args:
            scope: The parent construct.
            id: The construct id.
            max_instances: The most machines that run at a time, of all jobs together.
            shares: Fair shares; a job then names one. Identifiers that no share names have the weight 1.
            quota_shares: Shares with machines of their own; a job then names one.
            share_decay: How far back the use of machines counts for fair shares, up to a week; ten minutes unless
                given, which is short for training.
            compute_reservation: Percentage of the machines kept free for shares that have no job, from 0 to 99; none
                unless given.
            max_head_time: Time, from 10 minutes to a day, after which a job at the head of the queue that still finds
                no capacity is cancelled; it waits unless given.
            priority: Which queue comes first where several share machines: the higher number.

        Raises:
            ConfigurationError: Literal values cannot work; all of them are listed.
        """
        super().__init__(scope, id)
        head_seconds = None if max_head_time is None else max_head_time.to_seconds(integral=False)
        decay_seconds = None if share_decay is None else share_decay.to_seconds(integral=False)
        fair_names = [share.name for share in shares]
        quota_names = [share.name for share in quota_shares]
        numbers = [
            ("max_instances", max_instances, 1, _LARGEST, _QUEUE),
            ("priority", priority, 0, _LARGEST, _QUEUE),
            ("share_decay", decay_seconds, 0, 604800, _FAIR),
            ("compute_reservation", compute_reservation, 0, 99, _FAIR),
            ("max_head_time", head_seconds, 600, 86400, _QUEUE),
        ]
        findings = [
            finding
            for prop, value, low, high, source in numbers
            if value is not None and known(value)
            for finding in in_range(prop, value, low, high, source)
        ]
        findings += [finding for share in shares for finding in share.findings()]
        findings += [finding for share in quota_shares for finding in share.findings()]
        if known([*fair_names, *quota_names]):
            findings += rules.shares(fair_names, quota_names)
        raise_errors(findings, where=self.node.path)

        self._max_instances = max_instances if known(max_instances) else None
        self._has_quotas = bool(quota_shares)
        self._shares = [*fair_names, *quota_names]
        environment = batch.CfnServiceEnvironment(
            self,
            "Environment",
            service_environment_type="SAGEMAKER_TRAINING",
            capacity_limits=[
                batch.CfnServiceEnvironment.CapacityLimitProperty(
                    capacity_unit="NUM_INSTANCES", max_capacity=max_instances
                )
            ],
        )
        self._queue = batch.CfnJobQueue(
            self,
            "Resource",
            job_queue_type="SAGEMAKER_TRAINING",
            priority=priority,
            scheduling_policy_arn=self._scheduling(shares, decay_seconds, compute_reservation),
            service_environment_order=[
                batch.CfnJobQueue.ServiceEnvironmentOrderProperty(
                    order=1, service_environment=environment.attr_service_environment_arn
                )
            ],
            job_state_time_limit_actions=None
            if head_seconds is None
            else [
                batch.CfnJobQueue.JobStateTimeLimitActionProperty(
                    action="CANCEL",
                    max_time_seconds=head_seconds,
                    reason="No capacity in the time that the queue allows (max_head_time)",
                    state="RUNNABLE",
                )
            ],
        )
        for number, share in enumerate(quota_shares, 1):
            batch.CfnQuotaShare(self, f"Share{number}", job_queue=self._queue.attr_job_queue_arn, **share.properties())

    @classmethod
    def from_job_queue_arn(
        cls, job_queue_arn: str, *, max_instances: float | None = None, uses_quota_shares: bool = False
    ) -> ITrainingQueue:
        """A queue for training that exists already.

        Args:
            job_queue_arn: Its ARN.
            max_instances: The most machines that run at a time; a job is not checked against it unless given.
            uses_quota_shares: Whether the share that a job names is a quota share; a fair one unless given.
        """
        return _ExistingQueue(job_queue_arn, max_instances, uses_quota_shares)

    @property
    def job_queue_arn(self) -> str:
        """The queue's ARN."""
        return self._queue.attr_job_queue_arn

    @property
    def max_instances(self) -> float | None:
        """The most machines that run at a time; `None` if only deployment knows."""
        return self._max_instances

    def share_members(self, share: str | None) -> dict[str, str]:
        """How a job says in `SubmitServiceJob` which share it belongs to."""
        return _share_members(share, is_quota=self._has_quotas)

    def share_findings(self, share: str | None) -> list[Finding]:
        """What is wrong with a job's share."""
        if not known([share, *self._shares]):
            return []
        return list(rules.share_of_queue(share, self._shares))

    def _scheduling(
        self, shares: Sequence[FairShare], decay_seconds: float | None, reservation: float | None
    ) -> str | None:
        if not self._shares:
            return None
        fair = batch.CfnSchedulingPolicy.FairsharePolicyProperty(
            share_distribution=[share.render() for share in shares],
            share_decay_seconds=decay_seconds,
            compute_reservation=reservation,
        )
        quota = batch.CfnSchedulingPolicy.QuotaSharePolicyProperty(idle_resource_assignment_strategy="FIFO")
        return batch.CfnSchedulingPolicy(
            self,
            "Scheduling",
            fairshare_policy=None if self._has_quotas else fair,
            quota_share_policy=quota if self._has_quotas else None,
        ).attr_arn


class _ExistingQueue:
    """A queue of which only the ARN is known."""

    def __init__(self, job_queue_arn: str, max_instances: float | None, uses_quota_shares: bool) -> None:
        self.job_queue_arn = job_queue_arn
        self.max_instances = max_instances
        self._has_quotas = uses_quota_shares

    def share_members(self, share: str | None) -> dict[str, str]:
        return _share_members(share, is_quota=self._has_quotas)

    def share_findings(self, share: str | None) -> list[Finding]:
        del share
        return []


def _share_members(share: str | None, *, is_quota: bool) -> dict[str, str]:
    if share is None:
        return {}
    return {"QuotaShareName": share} if is_quota else {"ShareIdentifier": share}
