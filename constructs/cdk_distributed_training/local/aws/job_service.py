"""Runs the training jobs that reach the emulation, and does to them what happens to jobs on AWS."""

from __future__ import annotations

import datetime
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from moto.sagemaker.models import FakeTrainingJob

from cdk_distributed_training.local.aws import s3_folders
from cdk_distributed_training.local.aws.additions import events, service_jobs, training_jobs
from cdk_distributed_training.local.aws.channel_sources import channel_sources
from cdk_distributed_training.local.aws.efs_folders import EfsFolders
from cdk_distributed_training.local.aws.emulated_job import EmulatedJob
from cdk_distributed_training.local.aws.file_system_folders import FileSystemFolders
from cdk_distributed_training.local.aws.job_watcher import JobWatcher
from cdk_distributed_training.local.aws.lustre_folders import LustreFolders
from cdk_distributed_training.local.aws.queues.queue_service import QueueService
from cdk_distributed_training.local.aws.queues.training_calls import TrainingCalls
from cdk_distributed_training.local.aws.server import ACCOUNT, REGION
from cdk_distributed_training.local.aws.spot_capacity import SpotCapacity
from cdk_distributed_training.local.channels import ChannelSource
from cdk_distributed_training.local.hosts import Choice, choose
from cdk_distributed_training.local.training_job import STOP_GRACE

NO_MACHINES = (
    "CapacityError: Unable to provision requested ML compute capacity. Please retry using a different ML instance type."
)


class JobService:
    """All training jobs of the emulation; use it as a context manager, within that of the server.

    Leaving it stops the jobs that still run, waits for them and removes their files.

    Args:
        hosts: The kind of hosts; the most real one that the machine can make unless given.
        folders: Channel name -> folder of this machine, whose content is put where the channel reads, when a job
            begins: under the S3 prefix or into the directory of the file system.
        watcher: Sees the states and lines of all jobs.
        stop_grace: Seconds from SIGTERM to SIGKILL when a job is stopped.
        mount_patience: Seconds that a job waits for a file system to become available.
        entry_points: Image -> a command line on this machine in place of its entry point, for jobs that leave theirs to
            their image; such a job fails unless its image is among them.
    """

    def __init__(
        self,
        *,
        hosts: Choice | None = None,
        folders: Mapping[str, Path] | None = None,
        watcher: JobWatcher | None = None,
        stop_grace: float = STOP_GRACE,
        mount_patience: float = 5.0,
        entry_points: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """Nothing is made before it is entered."""
        self.jobs: dict[str, EmulatedJob] = {}
        self.spot_capacity = SpotCapacity()
        self._hosts = hosts or choose()
        self._mapped = dict(folders or {})
        self._watcher = watcher or JobWatcher()
        self._stop_grace = stop_grace
        self._mount_patience = mount_patience
        self._entry_points = dict(entry_points or {})
        self._refusals: list[tuple[str, str]] = []
        self._without_machines = 0
        self._lock = threading.Lock()

    def __enter__(self) -> JobService:
        """Take the emulation's jobs."""
        self._temporary = tempfile.TemporaryDirectory(prefix="dtrain-aws-")
        self._root = Path(self._temporary.name)
        self.file_systems = LustreFolders(self._root / "file-systems")
        self.elastic_file_systems = EfsFolders(self._root / "elastic-file-systems")
        self.queues = QueueService(TrainingCalls())
        training_jobs.serve(self)
        service_jobs.serve(self.queues)
        self.queues.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stop what runs; interrupted once more, kill it."""
        self.queues.close()
        for job in self.jobs.values():
            job.stop()
        try:
            self._join()
        except KeyboardInterrupt:
            for job in self.jobs.values():
                job.stop()
            self._join()
        training_jobs.serve(None)
        service_jobs.serve(None)
        self._temporary.cleanup()

    def _join(self) -> None:
        for job in list(self.jobs.values()):
            job.join()

    def refuse_next(self, code: str, message: str = "planted by a test", *, times: int = 1) -> None:
        """Let the next calls of CreateTrainingJob fail.

        Args:
            code: The API's error code, such as `ResourceLimitExceeded`.
            message: The error's message.
            times: How many calls.
        """
        self._refusals += [(code, message)] * times

    def no_machines_for_next(self, *, times: int = 1) -> None:
        """Let the next jobs be created and then find no machines."""
        self._without_machines += times

    def refusal(self, request: dict[str, Any]) -> tuple[str, str] | None:
        """The planned error of this call, if any."""
        del request
        with self._lock:
            return self._refusals.pop(0) if self._refusals else None

    def create(self, request: dict[str, Any], record: FakeTrainingJob) -> None:
        """Begin to run a job."""
        job = EmulatedJob(
            request=request,
            record=record,
            hosts=self._hosts,
            root=self._root / request["TrainingJobName"],
            channels=lambda: self._sources(request),
            tell=self._publish,
            watcher=self._watcher,
            stop_grace=self._stop_grace,
            spot_capacity=self.spot_capacity,
            ended=lambda: self._export(request),
            entry_point=self._entry_points.get(request.get("AlgorithmSpecification", {}).get("TrainingImage", ""), ()),
        )
        self.jobs[job.name] = job
        with self._lock:
            unlucky, self._without_machines = self._without_machines > 0, max(0, self._without_machines - 1)
        if unlucky:
            job.fail(NO_MACHINES)
        else:
            (self._root / job.name).mkdir()
            job.start()

    def stop(self, name: str) -> None:
        """Stop a job."""
        self.jobs[name].stop()

    def description(self, name: str) -> dict[str, Any]:
        """What DescribeTrainingJob tells."""
        return self.jobs[name].description()

    def _sources(self, request: Mapping[str, Any]) -> dict[str, ChannelSource]:
        for channel in request.get("InputDataConfig", []):
            folder = self._mapped.get(channel["ChannelName"])
            source = channel["DataSource"]
            if folder is not None and "S3DataSource" in source:
                s3_folders.upload(folder, source["S3DataSource"]["S3Uri"])
            elif folder is not None:
                system = source["FileSystemDataSource"]
                self._folders[system["FileSystemType"]].place(system["FileSystemId"], system["DirectoryPath"], folder)
        return channel_sources(request, self._folders, patience=self._mount_patience)

    @property
    def _folders(self) -> dict[str, FileSystemFolders]:
        return {"FSxLustre": self.file_systems, "EFS": self.elastic_file_systems}

    def _export(self, request: Mapping[str, Any]) -> None:
        """Let file systems pass on what a job has written."""
        for channel in request.get("InputDataConfig", []):
            system = channel["DataSource"].get("FileSystemDataSource")
            if system is not None and system["FileSystemAccessMode"] == "rw":
                self._folders[system["FileSystemType"]].export(system["FileSystemId"])

    def _publish(self, job: EmulatedJob) -> None:
        """Send the event that SageMaker sends at every change of a job's state."""
        self.queues.told(job.name)
        detail = job.description()
        events.publish(
            account=ACCOUNT,
            region=REGION,
            source="aws.sagemaker",
            detail_type="SageMaker Training Job State Change",
            resources=[f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:training-job/{job.name}"],
            detail=_in_milliseconds(detail),
        )


def _in_milliseconds(value: Any) -> Any:
    """Times as SageMaker's events have them."""
    if isinstance(value, datetime.datetime):
        return int(value.timestamp() * 1000)
    if isinstance(value, Mapping):
        return {name: _in_milliseconds(inner) for name, inner in value.items()}
    return [_in_milliseconds(inner) for inner in value] if isinstance(value, list) else value
