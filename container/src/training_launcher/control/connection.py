"""A connection that never blocks and carries messages both ways."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable

from training_launcher.framing import Decoder, Message, NotOurs, encode
from training_launcher.reactor import Reactor

_MOST_UNSENT = 32 << 20


class Connection:
    """Sends and receives messages over a connected socket.

    Args:
        reactor: The event loop.
        peer: A connected socket, owned from now on.
        on_message: Called for each message.
        on_close: Called once, with the reason, when the other side or the network ends it; not after `close`.
    """

    def __init__(
        self,
        reactor: Reactor,
        peer: socket.socket,
        on_message: Callable[[Connection, Message], None],
        on_close: Callable[[Connection, str], None],
    ) -> None:
        self._reactor, self._socket = reactor, peer
        self._on_message, self._on_close = on_message, on_close
        self._decoder = Decoder()
        self._unsent = bytearray()
        self._finishing = False
        self.open = True
        self.heard = time.monotonic()
        """When something came last."""
        peer.setblocking(False)
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._watch()

    def send(self, message: Message) -> None:
        """Send, now or as soon as the network takes it."""
        if not self.open:
            return
        self._unsent += encode(message)
        self._write()
        if len(self._unsent) > _MOST_UNSENT:
            self._lose("it takes no messages any more")

    def finish(self) -> None:
        """Say that nothing more will be sent; the other side then closes."""
        self._finishing = True
        if self.open and not self._unsent:
            self._shut()

    def close(self) -> None:
        """Let go of the socket."""
        if self.open:
            self.open = False
            self._reactor.watch(self._socket.fileno())
            self._socket.close()

    def _watch(self) -> None:
        self._reactor.watch(self._socket.fileno(), readable=self._read, writable=self._write if self._unsent else None)

    def _read(self) -> None:
        try:
            data = self._socket.recv(1 << 16)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._lose(f"connection lost: {error.strerror or error}")
            return
        if not data:
            self._lose("it closed the connection: its container or launcher has been ended from outside")
            return
        self.heard = time.monotonic()
        try:
            messages = self._decoder.feed(data)
        except NotOurs as error:
            self._lose(f"something else than a launcher talks there: {error}")
            return
        for message in messages:
            if self.open:
                self._on_message(self, message)

    def _write(self) -> None:
        try:
            while self._unsent:
                sent = self._socket.send(self._unsent)
                del self._unsent[:sent]
        except (BlockingIOError, InterruptedError):
            pass
        except OSError as error:
            self._lose(f"connection lost: {error.strerror or error}")
            return
        self._watch()
        if self._finishing and not self._unsent:
            self._shut()

    def _shut(self) -> None:
        with contextlib.suppress(OSError):  # closed from the other side already
            self._socket.shutdown(socket.SHUT_WR)

    def _lose(self, why: str) -> None:
        if self.open:
            self.close()
            self._on_close(self, why)
