"""The answering side of the paths between hosts."""

from __future__ import annotations

import socket
import time

from training_launcher.control.connection import Connection
from training_launcher.framing import Message
from training_launcher.reactor import Reactor


class Doorbell:
    """Listens on a free port, as the collectives will, and answers every host of this run with name and clock.

    Args:
        reactor: The event loop.
        address: Address to listen at; every address when empty.
        host: This host's name.
        token: The run's word.
    """

    def __init__(self, reactor: Reactor, *, address: str, host: str, token: str) -> None:
        self._reactor, self._host, self._token = reactor, host, token
        self._connections: set[Connection] = set()
        self._listener = socket.create_server((address, 0), backlog=4096)
        self._listener.setblocking(False)
        self.port: int = self._listener.getsockname()[1]
        reactor.watch(self._listener.fileno(), readable=self._accept)

    def close(self) -> None:
        """Answer no more."""
        if self._listener.fileno() < 0:
            return
        self._reactor.watch(self._listener.fileno())
        self._listener.close()
        for connection in self._connections:
            connection.close()

    def _accept(self) -> None:
        for _ in range(256):
            try:
                peer, _address = self._listener.accept()
            except OSError:  # all accepted, or the other side has gone again
                return
            self._connections.add(Connection(self._reactor, peer, self._asked, self._left))

    def _asked(self, connection: Connection, message: Message) -> None:
        known = message.get("token") == self._token
        connection.send({"type": "here", "host": self._host, "time": time.time()} if known else {"type": "refused"})

    def _left(self, connection: Connection, _why: str) -> None:
        self._connections.discard(connection)
