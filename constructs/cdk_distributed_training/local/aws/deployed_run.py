"""The whole life of a deployment, on an emulation of AWS: bootstrap, deploy, start, train, destroy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cdk_distributed_training.local.assembly import SynthesizedJob
from cdk_distributed_training.local.aws import executions, s3_folders
from cdk_distributed_training.local.aws.additions.recorded_resources import recorded_types
from cdk_distributed_training.local.aws.cdk_cli import CdkCli
from cdk_distributed_training.local.aws.executions import Ended
from cdk_distributed_training.local.aws.job_service import JobService
from cdk_distributed_training.local.aws.job_watcher import JobWatcher
from cdk_distributed_training.local.aws.server import Server
from cdk_distributed_training.local.hosts import Choice
from cdk_distributed_training.local.job_elsewhere import JobElsewhere
from cdk_distributed_training.local.results import CHECKPOINTS


class DeploymentWatcher(JobWatcher):
    """Sees the steps too; does nothing, subclasses override what they care for."""

    def on_step(self, text: str) -> None:
        """A step of the deployment has begun or ended."""


@dataclass(frozen=True, kw_only=True)
class DeployedRun:
    """One run of a job that is deployed for it.

    Attributes:
        app: The synthesized app's folder.
        job: The job to start.
        queue: By what it is started; None for the job's own state machine.
        entry_points: Image -> a command line on this machine in place of its entry point.
        hosts: The kind of hosts.
        folders: Channel name -> folder of this machine, put where the channel reads.
        given: The execution's input.
        port: Port of the emulation; a free one for 0.
        stop_grace: Seconds from SIGTERM to SIGKILL of a job that is stopped.
        results: Folder for what the job left in S3.
    """

    app: Path
    job: SynthesizedJob
    hosts: Choice
    folders: Mapping[str, Path]
    queue: JobElsewhere | None = None
    entry_points: Mapping[str, Sequence[str]] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict)
    port: int = 0
    stop_grace: float = 120.0
    results: Path | None = None

    def run(self, watcher: DeploymentWatcher, *, while_waiting: Callable[[], None] = lambda: None) -> Ended:
        """Go through the whole life; nothing is left running, however it ends.

        Args:
            watcher: Is told what happens.
            while_waiting: Called about five times a second while the execution runs.

        Raises:
            LocalModeError: A step failed; the text says which and why.
        """
        service = JobService(
            hosts=self.hosts,
            folders=self.folders,
            watcher=watcher,
            stop_grace=self.stop_grace,
            entry_points=self.entry_points,
        )
        with Server(self.port) as server, service:
            cdk = CdkCli(self.app, server.environment)
            watcher.on_step(f"emulation of AWS on {server.url}")
            cdk.bootstrap()
            watcher.on_step("bootstrapped")
            recorded_types.clear()
            cdk.deploy()
            watcher.on_step(f"deployed {self.job.stack.name}")
            if recorded_types:
                watcher.on_step(f"only recorded, without behaviour: {', '.join(sorted(recorded_types))}")
            machine = self._machine()
            execution = executions.start(machine, name="local", given=dict(self.given))
            watcher.on_step(f"started {execution}")
            try:
                ended = executions.wait(execution, while_waiting=while_waiting)
            except BaseException:
                executions.stop(execution)
                raise
            watcher.on_step(f"execution {ended.status}")
            self._save(service)
            cdk.destroy()
            watcher.on_step("destroyed")
            return ended

    def _machine(self) -> str:
        if self.queue is not None and self.queue.state_machine is not None:
            return executions.physical_id(self.queue.stack.name, self.queue.state_machine)
        if self.job.state_machine is not None:
            return executions.physical_id(self.job.stack.name, self.job.state_machine)
        return executions.job_state_machine(self.job.stack.name, self.job.job_name)

    def _save(self, service: JobService) -> None:
        """Copy what the jobs left in S3, which goes with the emulation."""
        for name, job in service.jobs.items() if self.results is not None else ():
            assert self.results is not None  # noqa: S101  asked above
            output = job.request["OutputDataConfig"]["S3OutputPath"].rstrip("/")
            s3_folders.download(f"{output}/{name}/output/", self.results / name)
            if "CheckpointConfig" in job.request:
                uri = job.request["CheckpointConfig"]["S3Uri"].rstrip("/")
                s3_folders.download(f"{uri}/", self.results / CHECKPOINTS)
