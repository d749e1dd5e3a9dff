"""A following host's end of the control channel."""

from __future__ import annotations

import errno
import os
import socket
import time
from collections.abc import Callable, Mapping

from training_launcher import __version__
from training_launcher.control.channel import Channel
from training_launcher.control.connection import Connection
from training_launcher.failure import Failure
from training_launcher.framing import Message
from training_launcher.problems import NOT_STARTED
from training_launcher.reactor import Callback, Reactor, Timer

FAREWELL = 5.0
"""Seconds in which the leader must take a last report."""
_ATTEMPT = 10.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.01, 2.0
"""Seconds between two attempts: hosts start together, and the leader often listens some milliseconds later."""


class Member(Channel):
    """Connects to the leader, as often as it takes, and passes reports and orders.

    Args:
        reactor: The event loop.
        host: This host.
        leader: The first host of the world.
        port: TCP port of the leader.
        token: The run's word, see `job_token`.
        silent_timeout: Seconds after which a leader that says nothing is lost.
        join_timeout: Seconds until the leader must have answered.
        on_order: Takes orders for this host.
        say: Prints a line.
    """

    def __init__(
        self,
        reactor: Reactor,
        *,
        host: str,
        leader: str,
        port: int,
        token: str,
        silent_timeout: float,
        join_timeout: float,
        on_order: Callable[[Message], None],
        say: Callable[[str], None],
    ) -> None:
        super().__init__(on_order)
        self._reactor, self._host, self._leader, self._port = reactor, host, leader, port
        self._token, self._silent_timeout, self._join_timeout = token, silent_timeout, join_timeout
        self._say = say
        self._address = ""
        self._connection: Connection | None = None
        self._welcome = self._going = False
        self._unsent: list[Message] = []
        self._last_error = "no attempt was answered"
        self._pause = _FIRST_PAUSE
        self._over = False
        self._finished: Callback | None = None
        self._attempt: tuple[socket.socket, Timer] | None = None

    def open(self) -> None:
        """Begin to count the time in which the leader must answer."""
        self._reactor.later(self._join_timeout, self._joined_or_failed)
        self._reactor.later(15.0, self._tell_waiting)
        self._reactor.every(self._silent_timeout / 10, self._beat)

    def resolved(self, addresses: Mapping[str, str]) -> None:
        """Connect as soon as the leader's address is known."""
        if self._leader in addresses and not self._address:
            self._address = addresses[self._leader]
            self._connect()

    def report(self, message: Message) -> None:
        """Send, or keep until the leader has answered."""
        if self._over:
            return
        if self._connection and self._welcome:
            self._connection.send(message)
        else:
            self._unsent.append(message)

    def leave(self, finished: Callback) -> None:
        """Send what is left and close."""
        self._over = True
        self._finished = finished
        if self._connection:
            self._connection.finish()
            self._reactor.later(0.0 if self._welcome else FAREWELL, self._finish)
        else:
            self._finish()

    def _connect(self) -> None:
        if self._over or self._connection:
            return
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(
                self._address, self._port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST
            )[0]
            attempt = socket.socket(family, kind, protocol)
        except OSError as error:
            self._retry(str(error))
            return
        attempt.setblocking(False)
        result = attempt.connect_ex(address)
        if result not in (0, errno.EINPROGRESS):
            attempt.close()
            self._retry(os.strerror(result))
            return
        self._attempt = (attempt, self._reactor.later(_ATTEMPT, self._no_answer))
        self._reactor.watch(attempt.fileno(), writable=self._connected)

    def _connected(self) -> None:
        attempt = self._end_attempt()
        result = attempt.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if result:
            attempt.close()
            self._retry(os.strerror(result))
            return
        self._connection = Connection(self._reactor, attempt, self._receive, self._lost)
        self._connection.send({"type": "hello", "host": self._host, "token": self._token, "version": __version__})

    def _no_answer(self) -> None:
        self._end_attempt().close()
        self._retry("no answer: packets are dropped on the way")

    def _end_attempt(self) -> socket.socket:
        assert self._attempt  # noqa: S101
        (attempt, timer), self._attempt = self._attempt, None
        timer.cancel()
        self._reactor.watch(attempt.fileno())
        return attempt

    def _retry(self, error: str) -> None:
        self._last_error = error
        self._reactor.later(self._pause, self._connect)
        self._pause = min(_LONGEST_PAUSE, self._pause * 1.5)

    def _receive(self, _connection: Connection, message: Message) -> None:
        kind = message["type"]
        if kind == "welcome":
            self._welcome = True
            unsent, self._unsent = self._unsent, []
            for waiting in unsent:
                self.report(waiting)
        elif kind == "refused":
            self._leader_failed("refused", f"{self._leader} refused this host: {message.get('reason')}")
        elif kind != "beat" and not self._over:
            self._over = kind == "end"
            self._going = self._going or kind == "go"
            self.on_order(message)

    def _lost(self, _connection: Connection, why: str) -> None:
        self._connection = None
        if self._over:
            self._finish()
        elif self._welcome:
            self._leader_failed("host lost", why, host=self._leader)
        else:
            self._retry(why)  # something accepted and went away: the leader is not up yet, or is another program

    def _beat(self) -> None:
        if not self._connection or not self._welcome or self._over:
            return
        self._connection.send({"type": "beat"})
        silent = time.monotonic() - self._connection.heard
        if silent > self._silent_timeout:
            self._connection.close()
            self._lost(self._connection, f"nothing heard of it for {silent:.0f} s: the host or its network is down")

    def _joined_or_failed(self) -> None:
        if not self._welcome and not self._over:
            self._leader_failed(
                "host missing",
                f"{self._leader} does not answer on port {self._port} after {self._join_timeout:g} s "
                f"({self._last_error}): did its container start, and does the security group let the hosts "
                "reach each other on every port?",
                host=self._leader,
            )

    def _tell_waiting(self) -> None:
        if not self._welcome and not self._over:
            self._say(f"waiting for {self._leader} on port {self._port}: {self._last_error}")
            self._reactor.later(30.0, self._tell_waiting)

    def _leader_failed(self, kind: str, summary: str, *, host: str = "") -> None:
        """Without a leader this host decides for itself."""
        if self._over:
            return
        self._over = True
        code = 1 if self._going else NOT_STARTED
        failure = Failure(kind, host or self._host, code, summary, ended="no exit code" if host else "")
        self.on_order({"type": "end", "failure": failure.to_message(), "exit_code": failure.exit_code})

    def _finish(self) -> None:
        finished, self._finished = self._finished, None
        if finished:
            if self._connection:
                self._connection.close()
            finished()
