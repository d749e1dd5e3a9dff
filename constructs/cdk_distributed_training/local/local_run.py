"""Take a job out of a synthesized app and run it on this machine."""

from __future__ import annotations

import datetime
import sys
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cdk_distributed_training.local import image_launcher
from cdk_distributed_training.local.assembly import Assembly, SynthesizedJob
from cdk_distributed_training.local.channels import ChannelSource, plan_channels
from cdk_distributed_training.local.container_environment import container_environment
from cdk_distributed_training.local.errors import LocalModeError
from cdk_distributed_training.local.hosts import Choice, Hosts
from cdk_distributed_training.local.input_files import host_names
from cdk_distributed_training.local.job_elsewhere import JobElsewhere
from cdk_distributed_training.local.job_observer import JobObserver
from cdk_distributed_training.local.overrides_on_the_way import overrides_on_the_way
from cdk_distributed_training.local.resolve import Resolver
from cdk_distributed_training.local.results import failure_text
from cdk_distributed_training.local.run_folder import RunFolder
from cdk_distributed_training.local.training_job import Outcome, SimulatedTrainingJob, entrypoint
from cdk_distributed_training.request.override import ExecutionInputError, execution_input, override


@dataclass(frozen=True, kw_only=True)
class ResolvedJob:
    """A job whose request holds plain values only.

    Attributes:
        job: The job as it was synthesized.
        request: The request with intrinsics evaluated and overrides applied.
        region: Region that the containers are told.
        account: Account that the containers are told.
        stand_ins: Values that the training sees and that exist only after a deployment, and what stands for them.
        notes: How the run differs from one on AWS, for the person who reads.
        way: What AWS would run it by: queues, schedules and so on, outermost first.
        given: What was overridden, as an execution's input.
        image_launcher: The launcher that stands in for the one in the job's image; None if the image needs none.
    """

    job: SynthesizedJob
    request: dict[str, Any]
    region: str
    account: str
    stand_ins: dict[str, str]
    notes: tuple[str, ...] = ()
    way: tuple[JobElsewhere, ...] = ()
    given: Mapping[str, Any] = field(default_factory=dict)
    image_launcher: Path | None = None

    @property
    def host_names(self) -> tuple[str, ...]:
        """The hosts that the job needs."""
        return host_names(self.request)


def resolve_job(
    assembly: Assembly,
    path: str | None = None,
    *,
    instance_count: int | None = None,
    hyperparameters: Mapping[str, str] | None = None,
) -> ResolvedJob:
    """Find a job, evaluate its request and apply overrides, by the rules of the state machine's execution input.

    Args:
        assembly: The synthesized app.
        path: Construct path of the job, or of a queue's, a schedule's and so on; needed if there are several jobs.
        instance_count: Another number of hosts.
        hyperparameters: Values that are added to the job's or replace them.

    Raises:
        LocalModeError: There is no such job, or an override is refused.
    """
    job = assembly.find(path)
    others = [stack for stack in assembly.stacks if stack is not job.stack]
    resolver = Resolver(job.stack, others)
    request = resolver(job.request)
    seen = Resolver(job.stack, others)
    algorithm = job.request.get("AlgorithmSpecification", {})
    seen([job.request.get("Environment"), job.request.get("HyperParameters"), algorithm.get("ContainerArguments")])
    way = assembly.way(path)
    chosen = overrides_on_the_way(
        way, own=request.get("HyperParameters", {}), given=hyperparameters or {}, stacks=assembly.stacks
    )
    given: dict[str, Any] = {"hyperparameters": {**chosen.hyperparameters, **(hyperparameters or {})}}
    count = chosen.instance_count if instance_count is None else instance_count
    if count is not None:
        given["instance_count"] = count
    try:
        changes = execution_input(given)
    except ExecutionInputError as error:
        raise LocalModeError(str(error)) from None
    if changes.instance_count is not None and request["ResourceConfig"].get("InstanceGroups"):
        raise LocalModeError("instance_count cannot be overridden: the job has instance groups with their own counts")
    request = override(
        request, instance_count=changes.instance_count, hyperparameters=dict(changes.hyperparameters) or None
    )
    # numbers may come as text from parameters; what SageMaker calls a string is one in hyperparameters.json
    request["HyperParameters"] = {name: str(value) for name, value in request.get("HyperParameters", {}).items()}
    return ResolvedJob(
        job=job,
        request=request,
        region=resolver.region,
        account=resolver.account,
        stand_ins=seen.stand_ins,
        notes=chosen.notes,
        way=way,
        given=given,
    )


@dataclass(frozen=True, kw_only=True)
class LocalRun:
    """A run that is ready to begin.

    Attributes:
        resolved: What runs.
        channels: A source for every channel.
        hosts: The kind of hosts.
        folder: Where the results go.
        name: The run's TrainingJobName.
        checkpoints: Folder of checkpoints of an earlier run, to go on from.
    """

    resolved: ResolvedJob
    channels: Mapping[str, ChannelSource]
    hosts: Choice
    folder: RunFolder
    name: str
    checkpoints: Path | None = None

    def job(self, hosts: Hosts, observer: JobObserver) -> SimulatedTrainingJob:
        """The simulated job on these hosts."""
        if self.resolved.image_launcher is not None:
            for host in hosts.names:
                hosts.share(host, self.resolved.image_launcher, image_launcher.FOLDER)
        return SimulatedTrainingJob(
            request=self.resolved.request,
            hosts=hosts,
            channels=self.channels,
            environment=container_environment(
                self.resolved.request,
                job_name=self.name,
                region=self.resolved.region,
                account=self.resolved.account,
            ),
            observer=observer,
            checkpoints=self.checkpoints,
        )

    def finish(self, outcome: Outcome) -> list[Path]:
        """Leave the results in the run's folder, once the hosts are closed; returns the model's files."""
        if outcome.failed_host is not None:
            text = failure_text(self.folder.opt_ml(outcome.failed_host)) or outcome.failure_reason
            self.folder.failure.write_text(text + "\n", encoding="utf-8")
        self.note(outcome)
        return self.folder.collect()

    def note(self, outcome: Outcome | None = None) -> None:
        """Write what runs, and how it ended, to `run.json`."""
        ended = {"status": outcome.status, "failure_reason": outcome.failure_reason} if outcome else {}
        self.folder.note(
            {
                "training_job_name": self.name,
                "construct": self.resolved.job.path,
                "command": sys.argv,
                "hosts": list(self.resolved.host_names),
                "hosts_kind": self.hosts.kind,
                "hyperparameters": self.resolved.request["HyperParameters"],
                "exit_codes": dict(outcome.exit_codes) if outcome else {},
                **ended,
            }
        )


def prepare(
    resolved: ResolvedJob,
    *,
    hosts: Choice,
    folders: Mapping[str, Path],
    output: Path | None = None,
    parent: Path,
    checkpoints: Path | None = None,
) -> LocalRun:
    """Check everything that can be checked before the run and make its folder.

    Args:
        resolved: The job.
        hosts: The kind of hosts.
        folders: Channel name -> folder of this machine.
        output: The run's folder; by default a new one in `parent`, named by job and time.
        parent: Folder of the runs that choose no folder of their own.
        checkpoints: Folder of checkpoints to go on from.

    Raises:
        LocalModeError: Something does not fit; nothing has been started or made then.
    """
    entrypoint(resolved.request)
    channels = plan_channels(resolved.request, resolved.job.assets, folders)
    if checkpoints is not None and not checkpoints.is_dir():
        raise LocalModeError(f"the folder of checkpoints {checkpoints} does not exist")
    prefix = resolved.job.job_name[:54]
    now = datetime.datetime.now().astimezone()
    folder = output or parent / f"{prefix}-{now:%Y%m%d-%H%M%S}-{uuid.uuid4().hex[:4]}"
    return LocalRun(
        resolved=resolved,
        channels=channels,
        hosts=hosts,
        folder=RunFolder(folder),
        name=f"{prefix}-{uuid.uuid4().hex[:8]}",
        checkpoints=checkpoints,
    )
