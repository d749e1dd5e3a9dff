"""What a person sees of a local run, and its logs."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import IO

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from cdk_distributed_training.local import statuses
from cdk_distributed_training.local.job_observer import JobObserver
from cdk_distributed_training.local.local_run import LocalRun
from cdk_distributed_training.local.training_job import Outcome, entrypoint

_COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "bright_cyan", "bright_magenta", "bright_green")
_MOST_NAMES = 6
_OUTCOME_STYLES = {statuses.COMPLETED: "bold green", statuses.FAILED: "bold red"}


class RunDisplay(JobObserver):
    """Writes the logs and shows the run: with a live line on a terminal, as plain lines elsewhere.

    Args:
        run: The run to show.

    Attributes:
        unread: Called once when nobody reads the output any more, as after `dtrain local | head`.
    """

    def __init__(self, run: LocalRun) -> None:
        """Open nothing yet."""
        self._run = run
        self._console = Console(highlight=False, soft_wrap=True)
        self._lock = threading.Lock()
        self._files: dict[str, IO[bytes]] = {}
        self._live: Progress | None = None
        self._logging = True
        self._shown = True
        self.unread: Callable[[], None] = lambda: None
        self._started = time.monotonic()
        names = run.resolved.host_names
        self._colours = {host: _COLOURS[index % len(_COLOURS)] for index, host in enumerate(names)}

    def __enter__(self) -> RunDisplay:
        """Open the logs and say what is about to run."""
        folder = self._run.folder
        self._files = {host: folder.host_log(host).open("wb") for host in self._run.resolved.host_names}
        self._job_log = folder.job_log.open("wb")
        self._header()
        if self._console.is_terminal:
            columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
            self._live = Progress(*columns, console=self._console, transient=True)
            self._line = self._live.add_task("Starting")
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the logs."""
        if self._live is not None:
            self._live.stop()
        for file in (*self._files.values(), self._job_log):
            with contextlib.suppress(OSError):  # said already, when the log could not be written
                file.close()

    def on_status(self, transition: statuses.Transition) -> None:
        """Show the state."""
        seconds = time.monotonic() - self._started
        with self._lock:
            self._console.print(Text(f"{seconds:7.1f} s  {transition.status}", style="bold"))
            if self._live is not None:
                self._live.update(
                    self._line, description=f"{transition.status}: {', '.join(self._run.resolved.host_names)}"
                )

    def on_output(self, host: str, piece: bytes) -> None:
        """Write a piece to the host's log as it is, and with its label to the job's log and the terminal."""
        label = "" if _is_labelled(host, piece) else f"[{host}] "
        line = label.encode() + piece.rstrip(b"\r\n")
        with self._lock:
            if self._logging:
                self._log(host, piece, line)
            if self._shown:
                self._show(host, line)

    def fault(self, text: str) -> None:
        """Show a fault that was injected."""
        with self._lock:
            self._console.print(Text(f"  fault: {text}", style="bold red"))

    def stopping(self, *, again: bool) -> None:
        """Say that a signal has arrived; called from a signal handler, so no lock is taken."""
        text = "\nkilling the hosts\n" if again else "\nstopping the job, once more to kill it\n"
        sys.stderr.write(text)
        sys.stderr.flush()

    def summary(self, outcome: Outcome, model: list[Path]) -> None:
        """Say how it ended and where everything is."""
        folder = self._run.folder
        style = _OUTCOME_STYLES.get(outcome.status, "bold yellow")
        self._console.print(Text(f"{outcome.status} after {outcome.training_seconds:.1f} s of training", style=style))
        if outcome.failure_reason:
            self._console.print(Text(outcome.failure_reason))
            self._pair("failure", folder.failure)
        if model:
            files = ", ".join(str(file) for file in model[:5]) + (", ..." if len(model) > 5 else "")
            self._pair("model", folder.model, f" ({files})")
        elif outcome.succeeded:
            self._console.print("  model        none: the script saved nothing to SM_MODEL_DIR")
        if folder.checkpoints.is_dir():
            self._pair("checkpoints", folder.checkpoints)
        hosts = list(self._colours)
        listed = ", ".join(hosts if len(hosts) <= _MOST_NAMES else [*hosts[:2], "...", hosts[-1]])
        self._pair("log", folder.job_log, f" (each host's own beside it: {listed})")

    def _header(self) -> None:
        resolved, kind = self._run.resolved, self._run.hosts
        names = resolved.host_names
        count = f"{len(names)} host{'s' if len(names) != 1 else ''}"
        self._console.print(f"{resolved.job.path} on {count} ({kind.kind}): {', '.join(names)}", markup=False)
        if kind.reason:
            self._console.print(
                f"Hosts share this machine's loopback network, host name and /tmp: {kind.reason}", markup=False
            )
        command = [*entrypoint(resolved.request)[:1], "...", *resolved.request["AlgorithmSpecification"].get(
            "ContainerArguments", [])]  # fmt: skip
        self._console.print(f"  {shlex.join(command)}", markup=False)
        for name, value in resolved.stand_ins.items():
            self._console.print(f"  {name} is known only after a deployment; here it is {value}", markup=False)
        for note in resolved.notes:
            self._console.print(f"  {note}", markup=False)

    def _log(self, host: str, piece: bytes, line: bytes) -> None:
        try:
            self._files[host].write(piece)
            self._files[host].flush()
            self._job_log.write(line + b"\n")
            self._job_log.flush()
        except OSError as error:
            # a job must not hang because nobody takes its output, nor fail because nobody keeps it
            self._logging = False
            text = f"  the logs end here ({error.strerror}); the job goes on, and its output is only shown"
            self._console.print(Text(text, style="bold red"))

    def _show(self, host: str, line: bytes) -> None:
        if not self._console.is_terminal:
            try:
                sys.stdout.buffer.write(line + b"\n")
                sys.stdout.buffer.flush()
            except BrokenPipeError:
                self._shown = False
                # so that nothing that is written from now on fails, up to the end of the process
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                self.unread()
            return
        text = line.rpartition(b"\r")[2].decode(errors="replace")
        label, bracket, rest = text.partition("] ")
        self._console.print(Text.assemble((label + bracket, self._colours[host]), Text.from_ansi(rest)))

    def _pair(self, name: str, path: Path, more: str = "") -> None:
        try:
            shown = path.relative_to(Path.cwd())
        except ValueError:
            shown = path
        self._console.print(f"  {name:<12} {shown}{more}", markup=False)


def _is_labelled(host: str, piece: bytes) -> bool:
    """Whether the launcher has said already which host speaks: `[algo-1 rank 0] ` or `[launcher algo-1] `."""
    label = piece[:80].partition(b"]")[0]
    return label.startswith(b"[") and host.encode() in label[1:].split(b" ")
