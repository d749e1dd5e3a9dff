"""The asking side of the paths between hosts."""

from __future__ import annotations

import errno
import os
import socket
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple, Optional

from training_launcher.control.connection import Connection
from training_launcher.framing import Message
from training_launcher.reactor import Reactor, Timer

PATIENCE = 7.0
"""Seconds for one path: the kernel sends a lost first packet again after one and after three seconds."""
_AT_ONCE = 256
"""Paths tried at the same time, since descriptors are limited."""

SILENT = "silent"
REFUSED = "refused"


class Door(NamedTuple):
    """A host that is to be reached."""

    host: str
    address: str
    port: int


class Answer(NamedTuple):
    """What came of one path."""

    host: str
    error: str
    """Empty when the host was reached."""
    seconds: float
    clock_ahead: float
    """Seconds by which the other host's clock is ahead of this one's; exact to half of `seconds`."""


class Knocks:
    """Tries all paths of this host, many at a time.

    Args:
        reactor: The event loop.
        doors: The hosts to reach.
        token: The run's word.
        finished: Called once, with an answer for each door.
    """

    def __init__(
        self,
        reactor: Reactor,
        doors: Sequence[Door],
        token: str,
        finished: Callable[[Sequence[Answer]], None],
    ) -> None:
        self._reactor, self._token, self._finished = reactor, token, finished
        self._waiting = deque(doors)
        self._knocking: set[_Knock] = set()
        self._answers: list[Answer] = []
        self._next()

    def close(self) -> None:
        """Ask no more; `finished` is not called."""
        self._waiting.clear()
        for knock in self._knocking:
            knock.close()
        self._knocking.clear()

    def _next(self) -> None:
        while self._waiting and len(self._knocking) < _AT_ONCE:
            knock = _Knock(self._reactor, self._waiting.popleft(), self._token, self._answered)
            self._knocking.add(knock)
            knock.begin()
        if not self._knocking and not self._waiting:
            self._finished(self._answers)

    def _answered(self, knock: _Knock, answer: Answer) -> None:
        self._knocking.discard(knock)
        self._answers.append(answer)
        self._reactor.later(0.0, self._next)


class _Knock:
    """One path."""

    def __init__(self, reactor: Reactor, door: Door, token: str, answered: Callable[[_Knock, Answer], None]) -> None:
        self._reactor, self._door, self._token, self._answered = reactor, door, token, answered
        self._socket: Optional[socket.socket] = None
        self._connection: Optional[Connection] = None
        self._began = self._asked = 0.0
        self._timer: Optional[Timer] = None

    def begin(self) -> None:
        """Connect."""
        self._began = time.monotonic()
        self._timer = self._reactor.later(PATIENCE, lambda: self._end(SILENT))
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(
                self._door.address, self._door.port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST
            )[0]
            self._socket = socket.socket(family, kind, protocol)
        except OSError as error:
            self._end(str(error))
            return
        self._socket.setblocking(False)
        result = self._socket.connect_ex(address)
        if result not in (0, errno.EINPROGRESS):
            self._end(_words(result))
            return
        self._reactor.watch(self._socket.fileno(), writable=self._connected)

    def close(self) -> None:
        """Let go of everything."""
        if self._timer:
            self._timer.cancel()
        if self._connection:
            self._connection.close()
        elif self._socket and self._socket.fileno() >= 0:
            self._reactor.watch(self._socket.fileno())
            self._socket.close()

    def _connected(self) -> None:
        assert self._socket  # noqa: S101
        result = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if result:
            self._end(_words(result))
            return
        self._asked = time.time()
        self._connection = Connection(self._reactor, self._socket, self._heard, lambda _connection, why: self._end(why))
        self._connection.send({"type": "knock", "token": self._token})

    def _heard(self, _connection: Connection, message: Message) -> None:
        name = message.get("host")
        if name != self._door.host:
            self._end(f"{name or 'another program'} answers at its address {self._door.address}")
            return
        self._end("", clock_ahead=float(message["time"]) - (self._asked + time.time()) / 2)

    def _end(self, error: str, *, clock_ahead: float = 0.0) -> None:
        self.close()
        self._answered(self, Answer(self._door.host, error, time.monotonic() - self._began, clock_ahead))


def _words(number: int) -> str:
    return REFUSED if number == errno.ECONNREFUSED else os.strerror(number)
