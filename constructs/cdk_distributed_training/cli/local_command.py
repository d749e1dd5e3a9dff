"""`dtrain local`: run a synthesized training job on this machine."""

from __future__ import annotations

import os
import signal
import sys
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated, Optional

import typer

from cdk_distributed_training.cli.deployed_run import deploy_and_run
from cdk_distributed_training.cli.options import DEFAULT_APP, App, Hyperparameters, InstanceCount, Job, pairs
from cdk_distributed_training.cli.run_display import RunDisplay
from cdk_distributed_training.local import statuses
from cdk_distributed_training.local.assembly import Assembly
from cdk_distributed_training.local.changed_code import changed_code
from cdk_distributed_training.local.errors import LocalModeError
from cdk_distributed_training.local.fault_injection import FaultInjection
from cdk_distributed_training.local.faults import Fault, check_faults, parse_faults
from cdk_distributed_training.local.hosts import choose
from cdk_distributed_training.local.hosts.choose import KINDS
from cdk_distributed_training.local.local_run import LocalRun, prepare, resolve_job
from cdk_distributed_training.local.run_folder import DEFAULT_PARENT, clear_abandoned
from cdk_distributed_training.local.this_machine import on_this_machine
from cdk_distributed_training.local.training_job import Outcome, SimulatedTrainingJob

# exit codes as a shell knows them; a job that fails gives 1, bad input 2
_STOPPED_BY = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129, signal.SIGPIPE: 141}
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def local(
    *,
    job: Job = None,
    app: App = DEFAULT_APP,
    channel: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            "--channel", metavar="NAME=FOLDER", help="Folder that stands for the data of a channel; repeatable."
        ),
    ] = None,
    instance_count: InstanceCount = None,
    hyperparameter: Hyperparameters = None,
    hosts: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            metavar="KIND",
            help="namespaces (own network, host name, /opt/ml and /tmp each) or loopback; "
            "by default namespaces where the machine allows them.",
        ),
    ] = None,
    output: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="FOLDER", help="Folder for logs and results [default: local-runs/JOB-TIME]."),
    ] = None,
    checkpoints: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="FOLDER", help="Checkpoints of an earlier run, to go on from."),
    ] = None,
    kill: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            metavar="HOST[:RANK]@SECONDS",
            help="Kill a host, or one rank on it, so many seconds after the start of the training; repeatable.",
        ),
    ] = None,
    drop_link: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            metavar="HOST@SECONDS",
            help="Pull a host's network cable, so many seconds after the start of the training; repeatable.",
        ),
    ] = None,
    without_accelerators: Annotated[
        bool,
        typer.Option(
            "--without-accelerators",
            help="Leave out the job's options that ask for EFA, GPUs or Neuron devices which this machine lacks.",
        ),
    ] = False,
    deploy: Annotated[
        bool,
        typer.Option(
            "--deploy",
            help="First deploy the app to an emulation of AWS on this machine, and start the job by its state machine.",
        ),
    ] = False,
    port: Annotated[
        int,
        typer.Option(
            metavar="PORT",
            min=0,
            max=65535,
            show_default=False,
            help="With --deploy: port of the emulation [default: a free one].",
        ),
    ] = 0,
) -> None:
    """Run a training job of the synthesized app on this machine, on as many hosts as it asks for."""
    folders = {name: Path(folder) for name, folder in pairs("--channel", channel, "train=./data").items()}
    hyperparameters = pairs("--hyperparameter", hyperparameter, "lr=0.1")
    if hosts is not None and hosts not in KINDS:
        raise LocalModeError(f"--hosts {hosts}: expected {' or '.join(KINDS)}")
    resolved = resolve_job(Assembly(app), job, instance_count=instance_count, hyperparameters=hyperparameters)
    changed = changed_code(app, resolved.job.source_folder)
    if changed is not None:
        print(
            f"note: {os.path.relpath(changed)} was changed after {app} was synthesized, and what runs is what was "
            "synthesized: `cdk synth` first to run the change",
            file=sys.stderr,
        )
    faults = parse_faults(kill or [], drop_link or [])
    if deploy:
        if faults or without_accelerators:
            raise LocalModeError("--kill, --drop-link and --without-accelerators do not go with --deploy")
        if checkpoints is not None:
            raise LocalModeError("--checkpoints does not go with --deploy: the job's checkpoints are in emulated S3")
        sys.exit(
            deploy_and_run(
                resolved,
                app=app,
                hosts=choose(hosts),
                folders=folders,
                port=port,
                results=output or DEFAULT_PARENT / f"deployed-{resolved.job.job_name}-{uuid.uuid4().hex[:4]}",
            )
        )
    if port:
        raise LocalModeError(f"--port {port} is the port of the emulation of AWS, and goes with --deploy only")
    choice = choose(hosts)
    check_faults(faults, resolved.host_names, choice)
    for tidied in clear_abandoned(output.parent if output else DEFAULT_PARENT):
        print(tidied, file=sys.stderr)
    run = prepare(
        on_this_machine(resolved, without_accelerators=without_accelerators),
        hosts=choice,
        folders=folders,
        output=output,
        parent=DEFAULT_PARENT,
        checkpoints=checkpoints,
    )
    sys.exit(_run(run, faults))


def _run(run: LocalRun, faults: Sequence[Fault]) -> int:
    display = RunDisplay(run)
    run.note()
    try:
        with run.hosts.make(run.resolved.host_names, run.folder.hosts, run.name) as hosts, display:
            injection = FaultInjection(faults, hosts, observer=display, say=display.fault)
            job = run.job(hosts, injection)
            with injection, _stopping_on_signals(job, display) as received:
                outcome = job.run()
        model = run.finish(outcome)
    finally:
        run.folder.discard_hosts()
    display.summary(outcome, model)
    return _exit_code(outcome, received)


@contextmanager
def _stopping_on_signals(job: SimulatedTrainingJob, display: RunDisplay) -> Iterator[list[int]]:
    """Turn Ctrl-C and its like into a stop of the job; the second one kills it."""
    received: list[int] = []

    def stop(signum: int, frame: FrameType | None) -> None:
        display.stopping(again=bool(received))
        received.append(signum)
        job.stop()

    previous = {signum: signal.signal(signum, stop) for signum in _SIGNALS}
    display.unread = lambda: stop(signal.SIGPIPE, None)
    try:
        yield received
    finally:
        for signum, handler in previous.items():
            signal.signal(signum, handler)


def _exit_code(outcome: Outcome, received: list[int]) -> int:
    if received:
        return _STOPPED_BY[signal.Signals(received[0])]
    return 0 if outcome.status == statuses.COMPLETED else 1
