"""The leader's end of the control channel: the first host of the world."""

from __future__ import annotations

import errno
import socket
import time
from collections.abc import Callable, Sequence

from training_launcher import __version__
from training_launcher.control.channel import Channel
from training_launcher.control.connection import Connection
from training_launcher.control.coordinator import Coordinator
from training_launcher.framing import Message
from training_launcher.problems import NOT_STARTED, Problem
from training_launcher.reactor import Callback, Reactor

FAREWELL = 5.0
"""Seconds that hosts have to take the last message."""


class Leader(Channel):
    """Listens for the other hosts and lets a `Coordinator` decide.

    Args:
        reactor: The event loop.
        host: This host.
        hosts: All hosts.
        world: Hosts that run ranks.
        address: Address to listen at; every address when empty.
        port: TCP port.
        token: The run's word, see `job_token`.
        silent_timeout: Seconds after which a host that says nothing is lost.
        join_timeout: Seconds until all hosts must be ready.
        on_order: Takes orders for this host.
        say: Prints a line.
    """

    def __init__(
        self,
        reactor: Reactor,
        *,
        host: str,
        hosts: Sequence[str],
        world: Sequence[str],
        address: str,
        port: int,
        token: str,
        silent_timeout: float,
        join_timeout: float,
        on_order: Callable[[Message], None],
        say: Callable[[str], None],
    ) -> None:
        super().__init__(on_order)
        self._reactor, self._host, self._hosts = reactor, host, tuple(hosts)
        self._address, self._port, self._token = address, port, token
        self._silent_timeout, self._join_timeout, self._say = silent_timeout, join_timeout, say
        self._connections: dict[str, Connection] = {}
        self._strangers: set[Connection] = set()
        self._came: set[str] = set()
        self._last: Message | None = None
        self._listener: socket.socket | None = None
        self._finished: Callback | None = None
        self._coordinator = Coordinator(
            hosts=hosts, world=world, broadcast=self._broadcast, later=reactor.later, now=time.monotonic
        )

    def open(self) -> None:
        """Listen, where there are other hosts.

        Raises:
            Problem: The port is taken.
        """
        if len(self._hosts) == 1:
            return
        self._reactor.later(self._join_timeout, lambda: self._coordinator.timed_out(self._join_timeout))
        self._reactor.later(15.0, self._tell_missing)
        try:
            self._listener = socket.create_server((self._address, self._port), backlog=4096)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise Problem(
                    f"port {self._port} of {self._host} is in use, and the launchers meet there: "
                    "choose another with --control-port",
                    kind="port in use",
                    exit_code=NOT_STARTED,
                ) from error
            raise
        self._listener.setblocking(False)
        self._reactor.watch(self._listener.fileno(), readable=self._accept)
        self._reactor.every(self._silent_timeout / 10, self._beat)

    def report(self, message: Message) -> None:
        """The leader's own host reports to itself."""
        if message["type"] == "launch":
            self._pass_on(message["host"], message)
        else:
            self._coordinator.receive(self._host, message)

    def leave(self, finished: Callback) -> None:
        """Wait until every host has taken the last message and closed."""
        self._finished = finished
        if not self._listener:
            self._finish()  # there is no other host, or none can have come
            return
        self._reactor.later(FAREWELL, self._finish)
        self._finish_if_alone()

    def _broadcast(self, message: Message) -> None:
        if message["type"] == "end":
            self._last = message
        for connection in list(self._connections.values()):
            connection.send(message)
            if message["type"] == "end":
                connection.finish()
        self.on_order(message)

    def _pass_on(self, host: str, message: Message) -> None:
        """An order for one host; only the leader's own host can give it."""
        if host == self._host:
            self.on_order(message)
        elif host in self._connections:  # else it is lost, which ends the job
            self._connections[host].send(message)

    def _accept(self) -> None:
        assert self._listener  # noqa: S101
        for _ in range(256):
            try:
                peer, _address = self._listener.accept()
            except OSError:  # all accepted, or the other side has gone again
                return
            self._strangers.add(Connection(self._reactor, peer, self._hello, self._stranger_gone))

    def _hello(self, connection: Connection, message: Message) -> None:
        """The first message of a connection says who it is."""
        host = message.get("host", "")
        reason = self._refusal(message)
        if reason:
            self._say(f"refused a connection: {reason}")
            connection.send({"type": "refused", "reason": reason})
            connection.finish()
            return
        self._strangers.discard(connection)
        self._came.add(host)
        self._connections[host] = connection
        connection._on_message = lambda _connection, received: self._receive(host, received)
        connection._on_close = lambda _connection, why: self._gone(host, why)
        connection.send({"type": "welcome", "version": __version__})
        if self._last:
            connection.send(self._last)
            connection.finish()

    def _refusal(self, message: Message) -> str:
        host = message.get("host", "")
        if message["type"] != "hello" or message.get("token") != self._token:
            return f"{host or 'someone'} belongs to another job"
        if host not in self._hosts or host == self._host:
            return f"{host!r} is no other host of this job"
        if host in self._connections:
            return f"there is a {host} already: two machines go by one name"
        if message.get("version") != __version__:
            return f"{host} runs launcher {message.get('version')}, and {self._host} runs {__version__}"
        return ""

    def _receive(self, host: str, message: Message) -> None:
        self._coordinator.receive(host, message)

    def _gone(self, host: str, why: str) -> None:
        self._connections.pop(host, None)
        if self._last:
            self._finish_if_alone()
        else:
            self._coordinator.lost(host, why)

    def _stranger_gone(self, connection: Connection, _why: str) -> None:
        self._strangers.discard(connection)

    def _beat(self) -> None:
        now = time.monotonic()
        for host, connection in list(self._connections.items()):
            connection.send({"type": "beat"})
            silent = now - connection.heard
            if silent > self._silent_timeout and connection.open and not self._last:
                connection.close()
                self._gone(host, f"nothing heard of it for {silent:.0f} s: the host or its network is down")

    def _tell_missing(self) -> None:
        missing = self._coordinator.missing
        if missing and not self._coordinator.going and not self._last:
            ready = len(self._hosts) - len(missing)
            self._say(f"waiting for {', '.join(missing[:8])} ({ready} of {len(self._hosts)} hosts are ready)")
            self._reactor.later(30.0, self._tell_missing)

    def _finish_if_alone(self) -> None:
        # hosts that have not come yet may still come to hear of a failure before the start: they get some seconds
        if self._finished and not self._connections and len(self._came) == len(self._hosts) - 1:
            self._finish()

    def _finish(self) -> None:
        finished, self._finished = self._finished, None
        if finished:
            for connection in [*self._connections.values(), *self._strangers]:
                connection.close()
            if self._listener:
                self._reactor.watch(self._listener.fileno())
                self._listener.close()
            finished()
