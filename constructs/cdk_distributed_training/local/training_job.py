"""A training job on local hosts, going through SageMaker's states; the core of local mode and of local AWS.

It knows the request and the hosts, and nothing of a command line or a cloud: channels come as `ChannelSource`s, what
happens goes to a `JobObserver`, what was made is left in the hosts' /opt/ml and told in the `Outcome`.
"""

from __future__ import annotations

import datetime
import json
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cdk_distributed_training.local import statuses
from cdk_distributed_training.local.channels import ChannelSource, is_sharded
from cdk_distributed_training.local.checkpoint_link import link_checkpoints
from cdk_distributed_training.local.errors import LocalModeError
from cdk_distributed_training.local.hosts import Hosts
from cdk_distributed_training.local.input_files import config_files, host_names
from cdk_distributed_training.local.job_observer import JobObserver
from cdk_distributed_training.local.output_reader import pieces
from cdk_distributed_training.local.results import CHECKPOINTS, failure_reason, failure_text, merge

POLL = 0.05  # seconds between two looks at the hosts
STOP_GRACE = 120.0  # seconds from SIGTERM to SIGKILL, as SageMaker gives
FAILURE_GRACE = 20.0  # seconds that the other hosts get to end by themselves after one has failed
LISTEN_PATIENCE = 5.0  # seconds to wait for an entrypoint that just starts to install its signal handler


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a job ended.

    Attributes:
        status: The final secondary status: Completed, Failed, Stopped or MaxRuntimeExceeded.
        failure_reason: In SageMaker's form; empty unless Failed.
        exit_codes: Each host's entrypoint, 128 + N for signal N; hosts that were never started are missing.
        failed_host: The first host that ended with a failure, if the job failed.
        transitions: The states it went through.
        training_seconds: From the start of the first entrypoint to the end of the last.
    """

    status: str
    failure_reason: str
    exit_codes: Mapping[str, int]
    failed_host: str | None
    transitions: Sequence[statuses.Transition]
    training_seconds: float

    @property
    def succeeded(self) -> bool:
        """Whether the job completed."""
        return self.status == statuses.COMPLETED


class SimulatedTrainingJob:
    """One run of a request.

    Args:
        request: The CreateTrainingJob request, with its intrinsics evaluated and overrides applied.
        hosts: Hosts named as `host_names(request)` names them; the caller closes them.
        channels: A source for every channel of the request.
        environment: The containers' environment.
        observer: Is told every state and every line.
        checkpoints: Folder whose content the hosts find in their checkpoint folder; None for none.
        stop_grace: Seconds from SIGTERM to SIGKILL when the job is stopped.
    """

    def __init__(
        self,
        *,
        request: Mapping[str, Any],
        hosts: Hosts,
        channels: Mapping[str, ChannelSource],
        environment: Mapping[str, str],
        observer: JobObserver | None = None,
        checkpoints: Path | None = None,
        stop_grace: float = STOP_GRACE,
    ) -> None:
        """Nothing happens before `run`."""
        if hosts.names != host_names(request):
            raise ValueError(f"the request needs the hosts {host_names(request)}, got {hosts.names}")
        self._request = request
        self._hosts = hosts
        self._channels = channels
        self._environment = environment
        self._observer = observer or JobObserver()
        self._checkpoints = checkpoints
        self._stop_grace = stop_grace
        self._transitions: list[statuses.Transition] = []
        self._stop = threading.Event()
        self._kill = threading.Event()

    @property
    def transitions(self) -> tuple[statuses.Transition, ...]:
        """The states so far."""
        return tuple(self._transitions)

    def stop(self) -> None:
        """Ask the job to stop, as StopTrainingJob does; asked twice, the hosts are killed. For any thread or signal."""
        (self._kill if self._stop.is_set() else self._stop).set()

    def run(self) -> Outcome:
        """Go through all states and return when the last host has ended."""
        self._enter(statuses.STARTING, "Starting the training job")
        argv = entrypoint(self._request)
        self._enter(statuses.DOWNLOADING, "Downloading input data")
        self._download()
        if self._stop.is_set():
            self._enter(statuses.STOPPED, "")
            return self._outcome(statuses.STOPPED)
        self._enter(statuses.TRAINING, "Training image download completed. Training in progress.")
        started = time.monotonic()
        watch = _Watch(hosts=self._hosts, processes=self._start(argv), started=started)
        reason_to_stop = self._wait(watch)
        for pump in watch.pumps:
            pump.join()
        seconds = time.monotonic() - started
        self._enter(statuses.UPLOADING, "Uploading generated training model")
        status = reason_to_stop or (statuses.FAILED if watch.failed_host else statuses.COMPLETED)
        reason = self._failure_reason(watch) if status == statuses.FAILED else ""
        self._enter(status, reason)
        return self._outcome(status, reason=reason, watch=watch, seconds=seconds)

    def _outcome(self, status: str, *, reason: str = "", watch: _Watch | None = None, seconds: float = 0.0) -> Outcome:
        return Outcome(
            status=status,
            failure_reason=reason,
            exit_codes=watch.exit_codes if watch else {},
            failed_host=watch.failed_host if watch and status == statuses.FAILED else None,
            transitions=self.transitions,
            training_seconds=seconds,
        )

    def _download(self) -> None:
        link_checkpoints(self._request, self._hosts)
        for channel in self._request.get("InputDataConfig", []):
            name = channel["ChannelName"]
            self._channels[name].place(self._hosts, name, sharded=is_sharded(channel))
        for host in self._hosts.names:
            base = self._hosts.opt_ml(host)
            for file, content in config_files(self._request, host, self._hosts.interface).items():
                (base / "input/config" / file).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
            if self._checkpoints is not None:
                merge([self._checkpoints], base / CHECKPOINTS)

    def _start(self, argv: Sequence[str]) -> dict[str, subprocess.Popen[bytes]]:
        # all hosts are started from this thread, which lives as long as they do
        return {host: self._hosts.start(host, argv, self._environment) for host in self._hosts.names}

    def _wait(self, watch: _Watch) -> str | None:
        """Wait for the end of all hosts; the status of a stop if that was the reason of the end."""
        limit = self._request.get("StoppingCondition", {}).get("MaxRuntimeInSeconds")
        deadline = watch.started + int(limit) if limit else float("inf")
        watch.pump(self._observer.on_output)
        while watch.running():
            if self._stop.is_set():
                self._end(watch, "Stopping the training job")
                return statuses.STOPPED
            if time.monotonic() > deadline:
                self._end(watch, f"Training exceeded {limit} seconds")
                return statuses.MAX_RUNTIME_EXCEEDED
            if watch.failed_for() > FAILURE_GRACE:
                watch.kill()
            time.sleep(POLL)
        return statuses.STOPPED if self._stop.is_set() else None

    def _end(self, watch: _Watch, message: str) -> None:
        """SIGTERM to PID 1 of every host, SIGKILL after the grace."""
        self._enter(statuses.STOPPING, message)
        begin = time.monotonic()
        untold = set(self._hosts.names)
        while watch.running():
            elapsed = time.monotonic() - begin
            for host in sorted(untold):
                # the kernel drops a signal for which PID 1 has no handler yet, and an entrypoint may just be starting
                if self._hosts.listens(host, signal.SIGTERM) or elapsed > LISTEN_PATIENCE:
                    self._hosts.signal(host, signal.SIGTERM)
                    untold.discard(host)
            if elapsed > self._stop_grace or self._kill.is_set():
                watch.kill()
            time.sleep(POLL)

    def _failure_reason(self, watch: _Watch) -> str:
        assert watch.failed_host is not None  # noqa: S101  only asked of failed jobs
        order = [watch.failed_host, *self._hosts.names]
        text = next((found for host in order if (found := failure_text(self._hosts.opt_ml(host)))), "")
        return failure_reason(text, watch.exit_codes[watch.failed_host])

    def _enter(self, status: str, message: str) -> None:
        now = datetime.datetime.now(datetime.timezone.utc)
        transition = statuses.Transition(status=status, start_time=now, message=message)
        self._transitions.append(transition)
        self._observer.on_status(transition)


class _Watch:
    """The processes of a run and what became of them."""

    def __init__(self, *, hosts: Hosts, processes: Mapping[str, subprocess.Popen[bytes]], started: float) -> None:
        self.started = started
        self.exit_codes: dict[str, int] = {}
        self.failed_host: str | None = None
        self.pumps: list[threading.Thread] = []
        self._failed_at: float | None = None
        self._hosts = hosts
        self._processes = dict(processes)

    def pump(self, sink: Callable[[str, bytes], None]) -> None:
        """Read every host's output in a thread of its own."""

        def read(host: str, process: subprocess.Popen[bytes]) -> None:
            assert process.stdout is not None  # noqa: S101  hosts are started with a pipe
            with process.stdout as stream:
                for piece in pieces(stream):
                    sink(host, piece)

        self.pumps = [
            threading.Thread(target=read, args=item, name=f"output-{item[0]}") for item in self._processes.items()
        ]
        for thread in self.pumps:
            thread.start()

    def running(self) -> bool:
        """Whether a host still runs; notes the exit codes of those that have ended."""
        for host, process in self._processes.items():
            code = process.poll()
            if code is None or host in self.exit_codes:
                continue
            self.exit_codes[host] = 128 - code if code < 0 else code
            if code and self.failed_host is None:
                self.failed_host, self._failed_at = host, time.monotonic()
        return len(self.exit_codes) < len(self._processes)

    def failed_for(self) -> float:
        """Seconds since the first host failed; 0 while none has."""
        return time.monotonic() - self._failed_at if self._failed_at is not None else 0.0

    def kill(self) -> None:
        """Kill the hosts that still run."""
        for host in self._processes.keys() - self.exit_codes.keys():
            self._hosts.kill(host)


def entrypoint(request: Mapping[str, Any]) -> list[str]:
    """The container's command line.

    Raises:
        LocalModeError: The request leaves it to the image, which local mode does not have.
    """
    algorithm = request.get("AlgorithmSpecification", {})
    if not algorithm.get("ContainerEntrypoint"):
        raise LocalModeError(
            "the job leaves the entrypoint to its image, and local mode runs without images: "
            "let the job bring the launcher as a channel (the default)"
        )
    return [*algorithm["ContainerEntrypoint"], *algorithm.get("ContainerArguments", [])]
