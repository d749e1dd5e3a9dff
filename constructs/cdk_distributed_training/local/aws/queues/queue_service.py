"""All queues for training jobs of the emulation, and the one thread in which their jobs go on."""

from __future__ import annotations

import itertools
import logging
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from cdk_distributed_training.local.aws.queues.service_job import BEGUN, ENDED, ServiceJob, now
from cdk_distributed_training.local.aws.queues.turns import FirstInFirstOut, QuotaShares, Turns

_LOG = logging.getLogger(__name__)
_LOOK = 0.5  # seconds between two looks at what only time brings
_AGAIN = 0.5  # seconds before the next attempt of a job that found no machines
_NO_CAPACITY = ("CapacityError", "ResourceLimitExceeded", "ThrottlingException")
_STATUS = {"Pending": "SCHEDULED", "Starting": "SCHEDULED", "Downloading": "STARTING"}
SAID = "Received status from SageMaker: "


class QueueError(Exception):
    """A call that Batch refuses; the text says why."""


class Trainer(Protocol):
    """Who creates and stops training jobs."""

    def create(self, request: dict[str, Any]) -> str:
        """Create one; the error's code and text if it is refused, else an empty text."""

    def stop(self, name: str) -> None:
        """Stop one, unless it has ended."""

    def look(self, name: str) -> tuple[str, str, str]:
        """Status, secondary status and reason of a failure."""


@dataclass(kw_only=True)
class Environment:
    """A service environment.

    Attributes:
        name: Its name.
        arn: Its ARN.
        capacity: The most machines that run at a time.
        state: ENABLED or DISABLED.
    """

    name: str
    arn: str
    capacity: int
    state: str = "ENABLED"


@dataclass(kw_only=True)
class Queue:
    """A job queue.

    Attributes:
        name: Its name.
        arn: Its ARN.
        environments: ARNs of its environments, in order.
        priority: Which queue comes first.
        turns: Which of its jobs comes next.
        head_seconds: Time at the head of the queue after which a job is cancelled.
        head_reason: What is said then.
        state: ENABLED or DISABLED.
    """

    name: str
    arn: str
    environments: Sequence[str]
    priority: int = 1
    turns: Turns = field(default_factory=FirstInFirstOut)
    head_seconds: float | None = None
    head_reason: str = ""
    state: str = "ENABLED"


class QueueService:
    """Takes jobs, begins them when it is their turn and there are machines, and follows them to their end.

    Args:
        trainer: Who creates and stops training jobs.
    """

    def __init__(self, trainer: Trainer) -> None:
        """Nothing happens before `start`."""
        self.environments: dict[str, Environment] = {}
        self.queues: dict[str, Queue] = {}
        self.policies: dict[str, Turns] = {}
        self.jobs: dict[str, ServiceJob] = {}
        self.lock = threading.RLock()
        self._trainer = trainer
        self._order = itertools.count()
        self._tokens: dict[str, ServiceJob] = {}
        self._news: set[str] = set()
        self._wake = threading.Event()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="training-queues", daemon=True)

    def start(self) -> None:
        """Let jobs go on."""
        self._thread.start()

    def close(self) -> None:
        """Begin nothing any more."""
        self._closed = True
        self._wake.set()
        self._thread.join()

    def told(self, training_job: str) -> None:
        """A training job has another status."""
        self._news.add(training_job)
        self._wake.set()

    def look(self) -> None:
        """Something else has changed that jobs may have waited for."""
        self._wake.set()

    def queue(self, name: str) -> Queue:
        """A queue by its ARN or name.

        Raises:
            QueueError: There is none.
        """
        found = self.queues.get(name) or next((one for one in self.queues.values() if one.name == name), None)
        if found is None:
            raise QueueError(f"Job queue {name} does not exist")
        return found

    def job(self, job_id: str) -> ServiceJob:
        """A job by its id or ARN.

        Raises:
            QueueError: There is none.
        """
        found = self.jobs.get(job_id.rpartition("/")[2])
        if found is None:
            raise QueueError(f"Service job {job_id} does not exist")
        return found

    def submit(self, request: Mapping[str, Any]) -> ServiceJob:
        """Take a job; a request with a token that was seen gives the same job.

        Raises:
            QueueError: The queue does not exist or takes no jobs, or the share is wrong.
        """
        with self.lock:
            queue = self.queue(request["jobQueue"])
            token = request.get("clientToken")
            if token in self._tokens:
                return self._tokens[token]
            problem = queue.turns.problem(request)
            if queue.state != "ENABLED" or problem:
                raise QueueError(problem or f"Job queue {queue.name} is disabled")
            job_id = str(uuid.uuid4())
            arn = f"{queue.arn.partition(':job-queue/')[0]}:service-job/{job_id}"
            job = ServiceJob(dict(request), queue.arn, arn, job_id, next(self._order), times={"createdAt": now()})
            self.jobs[job_id] = job
            if token:
                self._tokens[token] = job
        self._wake.set()
        return job

    def terminate(self, job_id: str, reason: str) -> None:
        """End a job that waits, and stop one that runs.

        Raises:
            QueueError: There is no such job.
        """
        job = self.job(job_id)
        with self.lock:
            if job.status not in ENDED:
                job.terminated = reason
        self._wake.set()

    def _work(self) -> None:
        while not self._closed:
            busy = any(job.status not in ENDED for job in list(self.jobs.values()))
            self._wake.wait(_LOOK if busy else None)
            self._wake.clear()
            try:
                self._step()
            except Exception:
                _LOG.exception("the queues of the emulation")

    def _step(self) -> None:
        """Everything that is due."""
        while self._news:
            self._follow(self._news.pop())
        for job in [job for job in list(self.jobs.values()) if job.status not in ENDED]:
            self._admit_or_end(job)
        begun = True
        while begun and not self._closed:
            begun = any(self._begin(queue) for queue in sorted(self.queues.values(), key=lambda one: -one.priority))

    def _admit_or_end(self, job: ServiceJob) -> None:
        with self.lock:
            if job.status == "SUBMITTED":
                job.enter("RUNNABLE")
            if job.terminated and job.status not in BEGUN:
                job.enter("FAILED", job.terminated)
        if job.status not in BEGUN or job.stopping:
            return
        late = job.deadline is not None and time.monotonic() > job.deadline
        if job.terminated or late:
            job.stopping = job.terminated or "Job attempt duration exceeded timeout"
            self._trainer.stop(job.training_job)

    def _begin(self, queue: Queue) -> bool:
        """Begin one job of a queue, or make room for one; whether one began."""
        with self.lock:
            environment = next((self.environments.get(arn) for arn in queue.environments), None)
            mine = [job for job in self.jobs.values() if job.queue_arn == queue.arn]
            waiting = [job for job in mine if job.status == "RUNNABLE" and job.not_before <= time.monotonic()]
            begun = [job for job in mine if job.status in BEGUN]
            if environment is None or environment.state != "ENABLED" or not waiting:
                return False
            free = queue.turns.limit(environment.capacity, [*waiting, *begun]) - self._used(environment)
            heads = queue.turns.heads(waiting, begun)
            chosen = next((job for job in heads if job.instances <= free), None)
            if chosen is not None:
                chosen.training_job = chosen.next_training_job()
                chosen.enter("SCHEDULED")
                queue.turns.started(chosen)
        if chosen is None:
            self._stay(queue, heads or waiting[:1])
            self._make_room(queue, waiting, begun)
            return False
        self._create(chosen)
        return True

    def _used(self, environment: Environment) -> int:
        """Machines that are used, by all queues of an environment."""
        queues = {queue.arn for queue in self.queues.values() if environment.arn in queue.environments}
        return sum(job.instances for job in self.jobs.values() if job.status in BEGUN and job.queue_arn in queues)

    def _create(self, job: ServiceJob) -> None:
        seconds = job.submitted.get("timeoutConfig", {}).get("attemptDurationSeconds")
        job.deadline = None if seconds is None else time.monotonic() + seconds
        refused = self._trainer.create({**job.payload, "TrainingJobName": job.training_job})
        if refused:
            job.training_job = ""
            self._ended(job, "Failed", refused)

    def _follow(self, training_job: str) -> None:
        """Learn how far a training job is."""
        job = next((one for one in self.jobs.values() if one.training_job == training_job), None)
        if job is None or job.status not in BEGUN:
            return
        status, secondary, failure = self._trainer.look(training_job)
        if status in ("Completed", "Failed", "Stopped"):
            self._ended(job, status, failure or f"Training job {secondary}")
            return
        with self.lock:
            next_status = _STATUS.get(secondary, "RUNNING")
            if BEGUN.index(next_status) > BEGUN.index(job.status):
                job.enter(next_status)

    def _ended(self, job: ServiceJob, status: str, said: str) -> None:
        with self.lock:
            reason = f"{SAID}{said}"
            without_machines = status == "Failed" and any(code in said for code in _NO_CAPACITY)
            attempt = {**job.resource(job.training_job), "statusReason": reason, "stoppedAt": now()}
            job.attempts.append({**attempt, "startedAt": job.times.get("startedAt", job.times["scheduledAt"])})
            preempted = job.stopping == _PREEMPTED and not job.terminated
            job.counted += 0 if without_machines or preempted else 1
            job.preempted += preempted
            if status == "Completed":
                job.enter("SUCCEEDED", reason)
            elif job.terminated:
                job.enter("FAILED", job.terminated)
            elif preempted:
                most = job.submitted.get("preemptionConfiguration", {}).get("preemptionRetriesBeforeTermination")
                job.enter("RUNNABLE" if most is None or job.preempted <= most else "FAILED", _PREEMPTED)
            elif without_machines:
                job.not_before = time.monotonic() + _AGAIN
                job.enter("RUNNABLE", reason)
            else:
                job.enter("RUNNABLE" if job.tried_again_after(job.stopping or reason) else "FAILED",
                          job.stopping or reason)  # fmt: skip
        self._wake.set()

    def _stay(self, queue: Queue, heads: Sequence[ServiceJob]) -> None:
        """Cancel what has been at the head of the queue for too long."""
        for job in heads if queue.head_seconds is not None else ():
            job.head_since = job.head_since or time.monotonic()
            if time.monotonic() - job.head_since > (queue.head_seconds or 0):
                with self.lock:
                    job.enter("FAILED", queue.head_reason)

    def _make_room(self, queue: Queue, waiting: Sequence[ServiceJob], begun: Sequence[ServiceJob]) -> None:
        for job in sorted(waiting, key=lambda one: (-one.priority, one.order)):
            gives = queue.turns.preempted_by(job, begun)
            if gives is not None:
                gives.stopping = _PREEMPTED
                self._trainer.stop(gives.training_job)
                return

    def add_share(self, queue_name: str, share: Mapping[str, Any]) -> None:
        """Give a queue a quota share.

        Raises:
            QueueError: The queue has no policy for quota shares.
        """
        queue = self.queue(queue_name)
        if not isinstance(queue.turns, QuotaShares):
            raise QueueError(f"Job queue {queue.name} has no scheduling policy for quota shares")
        queue.turns.shares[str(share["QuotaShareName"])] = share


_PREEMPTED = "Service job was preempted"
