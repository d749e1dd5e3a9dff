"""One service job: what was submitted, and how far it is.

Source: https://docs.aws.amazon.com/batch/latest/userguide/service-job-status.html
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import re
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ENDED = ("SUCCEEDED", "FAILED")
BEGUN = ("SCHEDULED", "STARTING", "RUNNING")
_KEPT = (
    "jobName",
    "preemptionConfiguration",
    "quotaShareName",
    "retryStrategy",
    "schedulingPriority",
    "serviceJobType",
    "serviceRequestPayload",
    "shareIdentifier",
    "tags",
    "timeoutConfig",
)
_SUMMARY = (
    "capacityUsage",
    "createdAt",
    "isTerminated",
    "jobArn",
    "jobId",
    "jobName",
    "latestAttempt",
    "quotaShareName",
    "scheduledAt",
    "serviceJobType",
    "shareIdentifier",
    "startedAt",
    "status",
    "statusReason",
    "stoppedAt",
)
# the longest name of a training job is 63 characters
_NAME_OF_OURS = 21


def now() -> int:
    """The time as Batch tells it, in milliseconds."""
    return int(time.time() * 1000)


@dataclass
class ServiceJob:
    """A job in a queue.

    Attributes:
        submitted: The request of SubmitServiceJob.
        queue_arn: The queue.
        arn: The job's ARN.
        job_id: The job's id.
        order: Its place among all that were submitted.
        status: SUBMITTED, RUNNABLE, SCHEDULED, STARTING, RUNNING, SUCCEEDED or FAILED.
        reason: Why it is in that status.
        training_job: Name of the attempt's training job; empty before there is one.
        counted: Attempts that count.
        preempted: Attempts that gave way to other jobs.
        stopping: Why its training job is being stopped; empty if it is not.
        terminated: The reason of TerminateServiceJob; empty if nobody asked.
    """

    submitted: Mapping[str, Any]
    queue_arn: str
    arn: str
    job_id: str
    order: int
    status: str = "SUBMITTED"
    reason: str = ""
    training_job: str = ""
    counted: int = 0
    preempted: int = 0
    stopping: str = ""
    terminated: str = ""
    not_before: float = 0.0
    head_since: float | None = None
    deadline: float | None = None
    times: dict[str, int] = field(default_factory=dict)
    attempts: list[dict[str, Any]] = field(default_factory=list)

    @property
    def payload(self) -> dict[str, Any]:
        """The CreateTrainingJob request."""
        found: dict[str, Any] = json.loads(self.submitted["serviceRequestPayload"])
        return found

    @property
    def machines(self) -> dict[str, int]:
        """Number of machines by type."""
        resources = self.payload.get("ResourceConfig", {})
        counts: dict[str, int] = {}
        for group in resources.get("InstanceGroups") or [resources]:
            kind = str(group.get("InstanceType", ""))
            counts[kind] = counts.get(kind, 0) + int(group.get("InstanceCount", 1))
        return counts

    @property
    def instances(self) -> int:
        """Number of machines."""
        return sum(self.machines.values())

    @property
    def share(self) -> str:
        """The share it belongs to; empty if none."""
        return str(self.submitted.get("shareIdentifier") or self.submitted.get("quotaShareName") or "")

    @property
    def priority(self) -> int:
        """Its rank among those of its share."""
        return int(self.submitted.get("schedulingPriority", 0))

    def next_training_job(self) -> str:
        """A name for the next attempt: `AWSBatch`, the job's own, and what makes it unique."""
        readable = re.sub("[^a-zA-Z0-9]+", "-", str(self.submitted["jobName"]))[:_NAME_OF_OURS].strip("-")
        return f"AWSBatch{readable}{hashlib.md5(uuid.uuid4().bytes, usedforsecurity=False).hexdigest()}"

    def enter(self, status: str, reason: str = "") -> None:
        """Go into another status."""
        self.status, self.reason = status, reason
        moment = {"SCHEDULED": "scheduledAt", "RUNNING": "startedAt", "SUCCEEDED": "stoppedAt", "FAILED": "stoppedAt"}
        if status in moment:
            self.times[moment[status]] = now()
        if status == "RUNNABLE":
            self.training_job, self.stopping, self.deadline, self.head_since = "", "", None, None

    def tried_again_after(self, reason: str) -> bool:
        """Whether another attempt follows one that ended for this reason."""
        strategy = self.submitted.get("retryStrategy", {})
        if self.counted >= strategy.get("attempts", 1):
            return False
        for rule in strategy.get("evaluateOnExit", []):
            if fnmatch.fnmatchcase(reason.lower(), str(rule["onStatusReason"]).lower()):
                return bool(rule["action"] == "RETRY")
        return True

    def description(self) -> dict[str, Any]:
        """What DescribeServiceJob tells."""
        told: dict[str, Any] = {name: self.submitted[name] for name in _KEPT if name in self.submitted}
        told |= {
            "attempts": list(self.attempts),
            "capacityUsage": [{"capacityUnit": "NUM_INSTANCES", "quantity": self.instances}],
            "isTerminated": bool(self.terminated),
            "jobArn": self.arn,
            "jobId": self.job_id,
            "jobQueue": self.queue_arn,
            "preemptionSummary": {"preemptedAttemptCount": self.preempted},
            "startedAt": 0,
            "status": self.status,
            **self.times,
        }
        if self.reason:
            told["statusReason"] = self.reason
        resource = self.resource(self.training_job) or (self.attempts[-1] if self.attempts else {})
        if "serviceResourceId" in resource:
            told["latestAttempt"] = {"serviceResourceId": resource["serviceResourceId"]}
        return told

    def summary(self) -> dict[str, Any]:
        """What ListServiceJobs tells."""
        return {name: value for name, value in self.description().items() if name in _SUMMARY}

    def resource(self, training_job: str) -> dict[str, Any]:
        """How an attempt names its training job; empty if it has none."""
        if not training_job:
            return {}
        partition, region, account = (self.arn.split(":")[place] for place in (1, 3, 4))
        arn = f"arn:{partition}:sagemaker:{region}:{account}:training-job/{training_job}"
        return {"serviceResourceId": {"name": "TrainingJobArn", "value": arn}}
