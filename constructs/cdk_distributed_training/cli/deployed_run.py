"""`dtrain local --deploy`: deploy a synthesized app to an emulation of AWS, and run a job of it there."""

from __future__ import annotations

import dataclasses
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from cdk_distributed_training.local.assembly import Assembly
from cdk_distributed_training.local.channels import plan_channels
from cdk_distributed_training.local.errors import LocalModeError
from cdk_distributed_training.local.hosts import Choice
from cdk_distributed_training.local.local_run import ResolvedJob
from cdk_distributed_training.local.this_machine import on_this_machine
from cdk_distributed_training.local.training_job import entrypoint

if TYPE_CHECKING:
    from cdk_distributed_training.local.aws.deployed_run import DeploymentWatcher
    from cdk_distributed_training.local.aws.executions import Ended

_STOPPED_BY = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
_EMULATION = (
    "This is an emulation of AWS on this machine (moto with additions): it shows that deployment, start and job fit "
    "together, not that AWS accepts them. IAM, quotas, capacity, EFA and images are not shown; see docs/local-aws.md."
)


class _StoppedError(KeyboardInterrupt):
    """A signal asked to stop."""

    def __init__(self, signum: int) -> None:
        self.signum = signum


def deploy_and_run(
    resolved: ResolvedJob,
    *,
    app: Path,
    hosts: Choice,
    folders: Mapping[str, Path],
    port: int,
    results: Path,
) -> int:
    """Deploy, start, train, destroy; the exit code.

    Args:
        resolved: The job.
        app: The synthesized app's folder.
        hosts: The kind of hosts.
        folders: Channel name -> folder of this machine.
        port: Port of the emulation; a free one for 0.
        results: Folder for what the job leaves in S3.

    Raises:
        LocalModeError: Something does not fit, or a step failed; nothing is left running then.
    """
    try:
        from cdk_distributed_training.local.aws.deployed_run import DeployedRun  # noqa: PLC0415  an extra
    except ModuleNotFoundError as error:
        raise LocalModeError(
            f"--deploy needs an emulation of AWS ({error.name} is missing): "
            "pip install 'cdk-distributed-training[aws-local]'"
        ) from None
    queue = next((one for one in resolved.way if one.state_machine is not None), None)
    # the queue is there, whatever stands before it is not
    here = on_this_machine(dataclasses.replace(resolved, way=tuple(one for one in resolved.way if one is not queue)))
    entrypoint(here.request)
    plan_channels(resolved.request, resolved.job.assets, folders)
    Assembly(app)
    run = DeployedRun(
        app=app,
        job=resolved.job,
        queue=queue,
        entry_points=_entry_points(here),
        hosts=hosts,
        folders=folders,
        given=resolved.given,
        port=port,
        results=results,
    )
    display = _display(here.notes)
    try:
        with _raising_on_signals():
            ended = run.run(display)
    except _StoppedError as stopped:
        print("stopped; nothing is left running", file=sys.stderr)
        return _STOPPED_BY[signal.Signals(stopped.signum)]
    return _tell(ended, results)


def _entry_points(here: ResolvedJob) -> dict[str, list[str]]:
    """The launcher that stands in for the one in the job's image, if it has one inside."""
    if here.image_launcher is None:
        return {}
    image = here.request["AlgorithmSpecification"].get("TrainingImage", "")
    return {image: [sys.executable, "-u", str(here.image_launcher)]}


def _tell(ended: Ended, results: Path) -> int:
    console = Console(highlight=False, soft_wrap=True)
    succeeded = ended.status == "SUCCEEDED"
    console.print(Text(f"execution {ended.status}", style="bold green" if succeeded else "bold red"))
    if ended.error:
        console.print(Text(f"{ended.error}: {ended.cause}"))
    if results.is_dir():
        console.print(f"  results      {results} (what the job left in the emulated S3)", markup=False)
    console.print(Text(_EMULATION, style="dim"))
    return 0 if succeeded else 1


def _display(notes: Sequence[str]) -> DeploymentWatcher:
    from cdk_distributed_training.local.aws.deployed_run import DeploymentWatcher  # noqa: PLC0415  an extra

    class Display(DeploymentWatcher):
        """Prints steps and states with their time, and the hosts' output."""

        def __init__(self) -> None:
            self._console = Console(highlight=False, soft_wrap=True)
            self._lock = threading.Lock()
            self._started = time.monotonic()
            self._console.print(_EMULATION, markup=False)
            for note in notes:
                self._console.print(f"  {note}", markup=False)

        def on_step(self, text: str) -> None:
            """A bold line."""
            self._line(text, "bold")

        def on_status(self, job: str, secondary_status: str) -> None:
            """A bold line."""
            self._line(f"{job} {secondary_status}", "bold cyan")

        def on_output(self, job: str, host: str, piece: bytes) -> None:
            """The line as it is."""
            del job
            label = b"" if host.encode() in piece[:80] else f"[{host}] ".encode()
            with self._lock:
                sys.stdout.buffer.write(label + piece.rstrip(b"\r\n") + b"\n")
                sys.stdout.buffer.flush()

        def _line(self, text: str, style: str) -> None:
            with self._lock:
                self._console.print(Text(f"{time.monotonic() - self._started:7.1f} s  {text}", style=style))

    return Display()


@contextmanager
def _raising_on_signals() -> Iterator[None]:
    """Turn Ctrl-C and its like into an exception, on which everything is ended in order."""

    def stop(signum: int, frame: FrameType | None) -> None:
        del frame
        sys.stderr.write("\nstopping the job, once more to kill it\n")
        raise _StoppedError(signum)

    previous = {signum: signal.signal(signum, stop) for signum in _STOPPED_BY}
    try:
        yield
    finally:
        for signum, handler in previous.items():
            signal.signal(signum, handler)
