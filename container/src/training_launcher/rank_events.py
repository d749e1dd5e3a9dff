"""What the rank guards tell, which rank started as which process and how it ended, and what mpirun's agent asks."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from typing import Any

from training_launcher.reactor import Reactor

Event = dict[str, Any]


class RankEvents:
    """A datagram socket in the run directory."""

    def __init__(self, reactor: Reactor, run_directory: str, on_event: Callable[[Event], None]) -> None:
        self._on_event = on_event
        self._reactor = reactor
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(os.path.join(run_directory, "events"))
        self._socket.setblocking(False)
        reactor.watch(self._socket.fileno(), readable=self.receive)

    def receive(self) -> None:
        """Take all events that are there. A rank's start is told before its first byte of output is written."""
        while self._socket.fileno() >= 0:
            try:
                data = self._socket.recv(1 << 18)
            except BlockingIOError:
                return
            self._on_event(json.loads(data))

    def close(self) -> None:
        """Listen no more."""
        if self._socket.fileno() >= 0:
            self._reactor.watch(self._socket.fileno())
            self._socket.close()
