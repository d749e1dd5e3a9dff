"""One training job that reached the emulation, run by local mode and told as SageMaker tells it."""

from __future__ import annotations

import datetime
import shutil
import tarfile
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from moto.sagemaker.models import FakeTrainingJob

from cdk_distributed_training.local import statuses
from cdk_distributed_training.local.aws import s3_folders
from cdk_distributed_training.local.aws.channel_sources import JobRefusedError
from cdk_distributed_training.local.aws.job_watcher import JobWatcher
from cdk_distributed_training.local.aws.log_streams import LogStreams
from cdk_distributed_training.local.aws.server import ACCOUNT, REGION
from cdk_distributed_training.local.aws.spot_capacity import SpotCapacity, is_spot, seconds_in_all
from cdk_distributed_training.local.channels import ChannelSource
from cdk_distributed_training.local.container_environment import container_environment
from cdk_distributed_training.local.errors import LocalModeError
from cdk_distributed_training.local.hosts import Choice, Hosts, HostsUnavailableError
from cdk_distributed_training.local.input_files import host_names
from cdk_distributed_training.local.job_observer import JobObserver
from cdk_distributed_training.local.results import CHECKPOINTS, MODEL, OUTPUT_DATA, merge
from cdk_distributed_training.local.training_job import Outcome, SimulatedTrainingJob

UPKEEP = 0.3  # seconds between two looks for new checkpoints and output
INTERRUPTED = "Interrupted"


class EmulatedJob:
    """A job and its thread.

    Args:
        request: The request as it reached the API.
        record: moto's record of the job, whose status is kept up to date.
        hosts: The kind of hosts.
        root: A folder of the job's own.
        channels: Finds a source for every channel, when the job begins.
        tell: Is told of every secondary status, after it can be described.
        watcher: Sees the states and lines of all jobs.
        stop_grace: Seconds from SIGTERM to SIGKILL when the job is stopped.
        spot_capacity: The spare machines, for which a spot job waits.
        ended: Called when the containers have ended, before the job's last status.
        entry_point: The command line in place of the image's entry point, for a request that leaves it to the image.
    """

    def __init__(
        self,
        *,
        request: dict[str, Any],
        record: FakeTrainingJob,
        hosts: Choice,
        root: Path,
        channels: Callable[[], Mapping[str, ChannelSource]],
        tell: Callable[[EmulatedJob], None],
        watcher: JobWatcher,
        stop_grace: float,
        spot_capacity: SpotCapacity,
        ended: Callable[[], None],
        entry_point: Sequence[str] = (),
    ) -> None:
        """Nothing happens before `start`."""
        self.name: str = request["TrainingJobName"]
        self.request = request
        self.failure_reason = ""
        self.interruptions = 0
        self._record = record
        self._hosts = hosts
        self._root = root
        self._channels = channels
        self._tell = tell
        self._watcher = watcher
        self._stop_grace = stop_grace
        self._entry_point = entry_point
        self._spot_capacity = spot_capacity
        self._ended = ended
        self._deadline = time.monotonic() + seconds_in_all(request)
        self._transitions: list[dict[str, Any]] = []
        self._model = ""
        self._logs = LogStreams(self.name)
        self._lock = threading.RLock()
        self._stopped = False
        self._running: tuple[SimulatedTrainingJob, Hosts] | None = None
        self._interrupted = threading.Event()
        self._thread = threading.Thread(target=self._work, name=f"job-{self.name}")
        self._training: list[datetime.datetime] = []
        self.enter(statuses.STARTING, "Starting the training job")

    def start(self) -> None:
        """Begin to run."""
        self._thread.start()

    def join(self) -> None:
        """Wait for the end of a job that was started."""
        if self._thread.ident is not None:
            self._thread.join()

    def stop(self) -> None:
        """StopTrainingJob: SIGTERM to every host."""
        with self._lock:
            self._stopped = True
            if self._running:
                self._running[0].stop()
        self._spot_capacity.wake()

    def interrupt(self) -> None:
        """Take a spot job's machines away, without a warning; it begins anew with what was saved of its checkpoints."""
        with self._lock:
            if self._running is None or self.secondary_status != statuses.TRAINING:
                raise ValueError(f"{self.name} is not training and cannot be interrupted: {self.secondary_status}")
            self._interrupted.set()
            hosts = self._running[1]
            for host in hosts.names:
                hosts.kill(host)

    @property
    def secondary_status(self) -> str:
        """The secondary status."""
        return str(self._transitions[-1]["Status"])

    @property
    def status(self) -> str:
        """TrainingJobStatus."""
        return statuses.training_job_status(self.secondary_status)

    def description(self) -> dict[str, Any]:
        """What DescribeTrainingJob tells."""
        with self._lock:
            kept = {name: value for name, value in self.request.items() if name != "Tags"}
            told: dict[str, Any] = {
                "TrainingJobStatus": self.status,
                "SecondaryStatus": self.secondary_status,
                "SecondaryStatusTransitions": [dict(one) for one in self._transitions],
                "LastModifiedTime": self._transitions[-1]["StartTime"],
            }
            if self._training:
                told["TrainingStartTime"] = self._training[0]
            if self.status in ("Completed", "Failed", "Stopped"):
                told["TrainingEndTime"] = self._transitions[-1]["StartTime"]
            if self.failure_reason:
                told["FailureReason"] = self.failure_reason
            if self._model:
                told["ModelArtifacts"] = {"S3ModelArtifacts": self._model}
            return {**kept, **told}

    def enter(self, secondary: str, message: str = "") -> None:
        """Go into another secondary status."""
        now = datetime.datetime.now(datetime.timezone.utc)
        with self._lock:
            if self._transitions:
                self._transitions[-1]["EndTime"] = now
            self._transitions.append({"Status": secondary, "StartTime": now, "StatusMessage": message})
            if secondary == statuses.TRAINING:
                self._training.append(now)
            self._record.secondary_status = secondary
            self._record.training_job_status = self.status
        self._watcher.on_status(self.name, secondary)
        self._tell(self)

    def fail(self, reason: str) -> None:
        """End as a failure."""
        self.failure_reason = reason[:1024]
        self.enter(statuses.FAILED, self.failure_reason)

    def _work(self) -> None:
        try:
            self._run()
        except (JobRefusedError, LocalModeError, HostsUnavailableError) as error:
            self.fail(str(error))
        except Exception as error:
            self.fail(f"InternalServerError: the emulation itself failed: {error!r}")
            raise
        finally:
            self._logs.flush()
            shutil.rmtree(self._root, ignore_errors=True)

    def _run(self) -> None:
        while self._has_machines():
            attempt = self._root / f"attempt-{self.interruptions + 1}"
            with self._hosts.make(host_names(self.request), attempt, self.name) as hosts:
                outcome = self._attempt(hosts, attempt)
                if not self._interrupted.is_set():
                    return self._end(outcome, hosts)
            self._interrupted.clear()
            self.interruptions += 1
            self.enter(INTERRUPTED, "Training job interrupted: the spot capacity was taken back")
            self.enter(statuses.STARTING, "Starting the training job")
        if self._stopped:
            self.enter(statuses.STOPPED)
        else:
            self.enter(statuses.MAX_WAIT_TIME_EXCEEDED, "Training job exceeded its wait time")
        return None

    def _has_machines(self) -> bool:
        """Wait for spare machines where the job takes such; false if the waiting ended without."""
        if not is_spot(self.request):
            return True
        return self._spot_capacity.wait(until=self._deadline, unless=lambda: self._stopped)

    def _attempt(self, hosts: Hosts, folder: Path) -> Outcome:
        job = SimulatedTrainingJob(
            request=self._with_entry_point(),
            hosts=hosts,
            channels=self._channels(),
            environment=container_environment(self.request, job_name=self.name, region=REGION, account=ACCOUNT),
            observer=_Observer(self),
            checkpoints=self._saved_checkpoints(folder / "saved-checkpoints"),
            stop_grace=self._stop_grace,
        )
        with self._lock:
            self._running = (job, hosts)
            if self._stopped:
                job.stop()
        ended = threading.Event()
        upkeep = threading.Thread(target=self._upkeep, args=(hosts, ended), name=f"upkeep-{self.name}")
        upkeep.start()
        # the time in all goes on from attempt to attempt, that of one attempt is the simulator's business
        in_all = threading.Timer(min(self._deadline - time.monotonic(), threading.TIMEOUT_MAX), job.stop)
        in_all.start()
        try:
            return job.run()
        finally:
            in_all.cancel()
            ended.set()
            upkeep.join()
            with self._lock:
                self._running = None

    def _with_entry_point(self) -> dict[str, Any]:
        algorithm = self.request["AlgorithmSpecification"]
        if algorithm.get("ContainerEntrypoint") or not self._entry_point:
            return self.request
        return {**self.request, "AlgorithmSpecification": {**algorithm, "ContainerEntrypoint": list(self._entry_point)}}

    def _saved_checkpoints(self, folder: Path) -> Path | None:
        config = self.request.get("CheckpointConfig")
        if config is None:
            return None
        folder.mkdir(parents=True)
        s3_folders.download(config["S3Uri"].rstrip("/") + "/", folder)
        return folder

    def _upkeep(self, hosts: Hosts, ended: threading.Event) -> None:
        """Send checkpoints and output on their way while the job runs; what is there at its end is sent too."""
        config = self.request.get("CheckpointConfig")
        mirror = s3_folders.Mirror(config["S3Uri"]) if config else None
        folders = [hosts.opt_ml(host) / CHECKPOINTS for host in hosts.names]
        last = False
        while not last:
            last = ended.wait(UPKEEP)
            # what was on an interrupted machine and not yet saved is lost
            if mirror is not None and not self._interrupted.is_set():
                mirror.update(folders)
            self._logs.flush()

    def _end(self, outcome: Outcome, hosts: Hosts) -> None:
        self._upload(hosts)
        self._ended()
        self._logs.flush()
        self.failure_reason = outcome.failure_reason
        too_late = outcome.status == statuses.STOPPED and not self._stopped
        self.enter(statuses.MAX_WAIT_TIME_EXCEEDED if too_late else outcome.status, outcome.failure_reason)

    def _upload(self, hosts: Hosts) -> None:
        output = self.request["OutputDataConfig"]
        place = f"{output['S3OutputPath'].rstrip('/')}/{self.name}/output"
        packed = output.get("CompressionType", "GZIP") == "GZIP"
        for name, source in (("model", MODEL), ("output", OUTPUT_DATA)):
            with tempfile.TemporaryDirectory(dir=self._root) as folder:
                if not merge([hosts.opt_ml(host) / source for host in hosts.names], Path(folder)):
                    continue
                uri = f"{place}/{name}.tar.gz" if packed else f"{place}/{name}/"
                if packed:
                    _send_archive(Path(folder), uri)
                else:
                    s3_folders.upload(Path(folder), uri)
                if name == "model":
                    self._model = uri


class _Observer(JobObserver):
    """Tells an attempt's states and output; an attempt's last state is told by the job, after its upload."""

    def __init__(self, job: EmulatedJob) -> None:
        self._job = job

    def on_status(self, transition: statuses.Transition) -> None:
        """Pass on what lies between the start and the end."""
        known = (statuses.DOWNLOADING, statuses.TRAINING, statuses.STOPPING, statuses.UPLOADING)
        if transition.status in known and not self._job._interrupted.is_set():
            self._job.enter(transition.status, transition.message)

    def on_output(self, host: str, piece: bytes) -> None:
        """Pass on a piece."""
        self._job._logs.write(host, piece)
        self._job._watcher.on_output(self._job.name, host, piece)


def _send_archive(folder: Path, uri: str) -> None:
    bucket, key = s3_folders.split(uri)
    with tempfile.NamedTemporaryFile(dir=folder.parent, suffix=".tar.gz") as file:
        with tarfile.open(file.name, "w:gz") as archive:
            for path in sorted(folder.iterdir()):
                archive.add(path, path.name)
        s3_folders.send(Path(file.name), bucket, key)
