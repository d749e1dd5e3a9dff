"""Faults injected into a run while it goes on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType

from cdk_distributed_training.local import statuses
from cdk_distributed_training.local.faults import Fault
from cdk_distributed_training.local.hosts import Hosts, HostsUnavailableError, NamespaceHosts
from cdk_distributed_training.local.job_observer import JobObserver

_LOOK = 0.05  # seconds between two looks for what a fault is to hit


class FaultInjection(JobObserver):
    """Watches for the start of the training and injects faults from then on; tells another observer everything.

    Use it as a context manager around the job's run: leaving it ends the injection.

    Args:
        faults: What goes wrong, in the order of its time.
        hosts: The hosts of the run.
        observer: Whom else to tell.
        say: Is told every fault, in words, once it has happened or can no longer happen.
    """

    def __init__(
        self, faults: Sequence[Fault], hosts: Hosts, *, observer: JobObserver, say: Callable[[str], None]
    ) -> None:
        """Nothing happens before the training starts."""
        self._faults = faults
        self._hosts = hosts
        self._observer = observer
        self._say = say
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def on_status(self, transition: statuses.Transition) -> None:
        """Begin with the training."""
        self._observer.on_status(transition)
        hosts = self._hosts
        if transition.status == statuses.TRAINING and self._faults and isinstance(hosts, NamespaceHosts):
            self._thread = threading.Thread(target=self._inject, args=(hosts,), name="faults")
            self._thread.start()

    def on_output(self, host: str, piece: bytes) -> None:
        """Pass it on."""
        self._observer.on_output(host, piece)

    def _inject(self, hosts: NamespaceHosts) -> None:
        started = time.monotonic()
        for fault in self._faults:
            self._ended.wait(max(0.0, started + fault.seconds - time.monotonic()))
            try:
                while not self._ended.is_set() and not fault.inject(hosts):
                    self._ended.wait(_LOOK)
            except (HostsUnavailableError, ProcessLookupError) as error:
                self._say(f"could not {fault.text}: {error}")
                continue
            when = f"{time.monotonic() - started:.1f} s after the start of the training"
            self._say(f"no {fault.text}: the job had ended" if self._ended.is_set() else f"{fault.text}, {when}")

    def __enter__(self) -> FaultInjection:
        """The observer itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End the injection."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
