"""The engine that runs a job by a queue of AWS Batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_kms as kms
from constructs import Construct

from cdk_distributed_training.checks.findings import Finding, raise_errors
from cdk_distributed_training.checks.rules import queues as rules
from cdk_distributed_training.checks.rules.engines import in_range
from cdk_distributed_training.checks.rules.state_machine import poll_interval as poll_interval_rule
from cdk_distributed_training.engines.batch.attempt_rule import AttemptRule
from cdk_distributed_training.engines.batch.queued_states import TRAINING_JOB_PREFIXES, QueuedStates
from cdk_distributed_training.engines.batch.training_queue import ITrainingQueue
from cdk_distributed_training.engines.batch_job_termination import terminate_definition
from cdk_distributed_training.engines.engine_runs import MachineRuns
from cdk_distributed_training.engines.run_and_stop import States, run_and_stop
from cdk_distributed_training.engines.run_elsewhere import run_elsewhere
from cdk_distributed_training.engines.statement import Statement, pass_to_sagemaker
from cdk_distributed_training.engines.training_definition import ITrainingDefinition
from cdk_distributed_training.monitoring.job_metrics import JobMetrics
from cdk_distributed_training.tokens import known

_SUBMIT = "https://docs.aws.amazon.com/batch/latest/APIReference/API_SubmitServiceJob.html"
_LARGEST = 2**31 - 1


class QueuedTrainingJob(JobMetrics, MachineRuns):
    """A job that waits in a queue for its machines; each execution of `state_machine` is one run.

    Input and outcome are those of the job's own state machine: `{"hyperparameters": {...}, "instance_count": n}`, and
    the errors `TrainingJobFailed`, `TrainingJobStopped`, `TrainingJobMaxRuntimeExceeded` and so on. A stopped execution
    takes its job out of the queue, or stops it. Batch names the training jobs itself: `AWSBatch...`.

    Construct ids, which are part of the interface: `Job`, `Stop`, `Ended`, `EndedRole`, `LogGroup`.

    Example:
        >>> queue = TrainingQueue(stack, "Queue", max_instances=64)  # doctest: +SKIP
        >>> queued = QueuedTrainingJob(stack, "Queued", job=job, queue=queue, priority=10)  # doctest: +SKIP
        >>> queued.grants.start(researchers)  # doctest: +SKIP
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        job: ITrainingDefinition,
        queue: ITrainingQueue,
        share: str | None = None,
        priority: float | None = None,
        attempts: float = 1,
        attempt_rules: Sequence[AttemptRule] = (),
        attempt_timeout: cdk.Duration | None = None,
        max_preemptions: float | None = None,
        poll_interval: cdk.Duration | None = None,
        encryption_key: kms.IKey | None = None,
    ) -> None:
        """Make the state machines.

        Args:
            scope: The parent construct.
            id: The construct id.
            job: The job.
            queue: The queue.
            share: The queue's share that the job belongs to, where it has shares.
            priority: The job's rank among those of its share, from 0 to 9999; the highest comes first. It counts for
                nothing in a queue without shares.
            attempts: How often the job is tried in all, from 1 to 10; once unless given. Attempts that found no
                capacity do not count.
            attempt_rules: After which reasons it is tried again; after all of them unless given.
            attempt_timeout: Longest time of one attempt; the job's own limit unless given.
            max_preemptions: How often the job gives way to others before it fails; without limit unless given. For
                queues with quota shares.
            poll_interval: Shortest time between two looks at the job; 30 seconds unless given. Jobs that wait or run
                for long are looked at more seldom.
            encryption_key: Key for the log; CloudWatch Logs' own unless given.

        Raises:
            ConfigurationError: Literal values cannot work; all of them are listed.
        """
        super().__init__(scope, id)
        self._training_jobs = [f"{prefix}*" for prefix in TRAINING_JOB_PREFIXES]
        stack = cdk.Stack.of(self)
        poll = 30 if poll_interval is None else poll_interval.to_seconds(integral=False)
        timeout = None if attempt_timeout is None else attempt_timeout.to_seconds(integral=False)
        findings = [
            *poll_interval_rule(poll),
            *queue.share_findings(share),
            *_numbers(priority=priority, attempts=attempts, attempt_timeout=timeout, max_preemptions=max_preemptions),
            *(finding for rule in attempt_rules for finding in rule.findings()),
            *_fits(job.request, queue.max_instances),
        ]
        raise_errors(findings, where=self.node.path)
        submission = {
            "JobQueue": queue.job_queue_arn,
            **queue.share_members(share),
            "RetryStrategy": {
                "Attempts": attempts,
                **({"EvaluateOnExit": [rule.render() for rule in attempt_rules]} if attempt_rules else {}),
            },
            **({} if priority is None else {"SchedulingPriority": priority}),
            **({} if timeout is None else {"TimeoutConfig": {"AttemptDurationSeconds": timeout}}),
            **(
                {}
                if max_preemptions is None
                else {"PreemptionConfiguration": {"PreemptionRetriesBeforeTermination": max_preemptions}}
            ),
        }
        service_jobs = stack.format_arn(service="batch", resource="service-job", resource_name="*")
        run = States(
            definition=QueuedStates(
                partition=stack.partition,
                job_name=job.job_name,
                request=job.request,
                submission=submission,
                poll_interval=int(poll),
                max_instances=queue.max_instances,
            ).definition(),
            statements=[
                Statement(actions=["batch:SubmitServiceJob"], resources=[queue.job_queue_arn, service_jobs]),
                Statement(actions=["batch:DescribeServiceJob"], resources=[service_jobs]),
                Statement(actions=["sagemaker:DescribeTrainingJob"], resources=_training_jobs(stack)),
                pass_to_sagemaker(job.role),
            ],
            wildcards="Batch makes up the ids of service jobs, and the names of training jobs behind its own",
        )
        stop = States(
            definition=terminate_definition(
                kind="service job", partition=stack.partition, job_name=job.job_name, job_queue_arn=queue.job_queue_arn
            ),
            statements=[
                Statement(actions=["batch:ListServiceJobs"], resources=["*"]),
                Statement(actions=["batch:TerminateServiceJob"], resources=[service_jobs]),
            ],
            wildcards="Batch makes up the ids of service jobs, and listing knows no resources",
        )
        self._state_machine = run_and_stop(self, run=run, stop=stop, encryption_key=encryption_key)
        run_elsewhere(
            self,
            runner="a queue of AWS Batch starts it once it has machines for it",
            job=job,
            state_machine_arn=self.state_machine.state_machine_arn,
        )


def _training_jobs(stack: cdk.Stack) -> list[str]:
    return [
        stack.format_arn(service="sagemaker", resource="training-job", resource_name=f"{prefix}*")
        for prefix in TRAINING_JOB_PREFIXES
    ]


def _numbers(**values: float | None) -> Iterator[Finding]:
    ranges = {
        "priority": (0, 9999),
        "attempts": (1, 10),
        "attempt_timeout": (1, _LARGEST),
        "max_preemptions": (0, _LARGEST),
    }
    for prop, value in values.items():
        if value is not None and known(value):
            yield from in_range(prop, value, *ranges[prop], _SUBMIT)


def _fits(request: Mapping[str, Any], most: float | None) -> Iterator[Finding]:
    resources = request.get("ResourceConfig", {})
    shared = resources.get("InstanceCount", 0)
    # of preferences, the one with the fewest machines is enough
    preferred = [machines.get("InstanceCount", shared) for machines in resources.get("InstancePreferences", ())]
    grouped = [machines["InstanceCount"] for machines in resources.get("InstanceGroups", ())]
    if most is not None and known([shared, *preferred, *grouped]):
        yield from rules.fits_queue(min(preferred) if preferred else sum([shared, *grouped]), most)
