"""Hosts that do not know each other's addresses meet at the one address that all know, before anything else.

Blocking, since there is nothing else to do yet; a stop that comes meanwhile ends it.
"""

from __future__ import annotations

import selectors
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from training_launcher import early_signals
from training_launcher.framing import Decoder, Message, NotOurs, encode
from training_launcher.problems import NOT_STARTED, Problem

_STOPPED = 143
_LOOK = 0.2
"""Seconds between two looks at whether a stop has come."""
_FIRST_WORD, _NEXT_WORDS = 15.0, 30.0
"""Seconds until the waiting is talked about, and between two such lines."""
_ANSWER = 10.0
"""Seconds that one answer may take to be sent, or a connection to be made."""


class Meeting(NamedTuple):
    """Where and for how long."""

    port: int
    seconds: float
    token: str
    """The run's word; a host with another is told so."""


def gather(hosts: Sequence[str], meeting: Meeting) -> Mapping[str, str]:
    """On the first host: wait for all others, then tell everyone all addresses.

    Args:
        hosts: All hosts, this one first.
        meeting: Where and for how long.

    Returns:
        Each host's address, as seen from here.

    Raises:
        Problem: A host did not come in time, the port is taken, or the job is to stop. Those that came hear of it.
    """
    with ExitStack() as stack:
        try:
            listener = stack.enter_context(socket.create_server(("", meeting.port), backlog=4096))
        except OSError as error:
            raise Problem(
                f"port {meeting.port} of {hosts[0]} cannot be listened at ({error}), and the hosts meet there: choose "
                "another with --control-port",
                kind="port in use",
                exit_code=NOT_STARTED,
            ) from error
        guests = _Guests(stack.enter_context(selectors.DefaultSelector()), listener, hosts, meeting.token)
        stack.callback(guests.close)
        for left in _waiting(meeting.seconds, lambda: f"{len(hosts) - len(guests.missing)} of {len(hosts)} are here"):
            guests.look(left)
            if not guests.missing:
                return guests.tell_all()
        missing = guests.missing
        came = len(hosts) - len(missing)
        named = ", ".join(missing[:8]) + (f" and {len(missing) - 8} more" if len(missing) > 8 else "")
        text = (
            f"{named} did not come to port {meeting.port} of {hosts[0]} within {meeting.seconds:g} s ({came} of "
            f"{len(hosts)} hosts are here): did the container of that node start, and does the security group let the "
            "nodes reach each other on every port?"
        )
        stopped = early_signals.pending()
        problem = _stopped() if stopped else Problem(text, kind="host missing", exit_code=NOT_STARTED)
        guests.send({"type": "end", "kind": problem.kind, "reason": problem.message, "code": problem.exit_code})
        raise problem


def ask(host: str, hosts: Sequence[str], address: str, meeting: Meeting) -> Mapping[str, str]:
    """On any other host: come to the first one, as often as it takes, and wait for all addresses.

    Args:
        host: This host.
        hosts: All hosts.
        address: The first one's.
        meeting: Where and for how long.

    Raises:
        Problem: The first host does not answer in time, says that another one did not come, or the job is to stop.
    """
    errors = ["no attempt was answered"]
    hello = encode({"type": "hello", "host": host, "token": meeting.token})
    for left in _waiting(meeting.seconds, lambda: f"{hosts[0]} at {address}, port {meeting.port}: {errors[-1]}"):
        try:
            with socket.create_connection(
                (address, meeting.port), timeout=min(_ANSWER, max(left, _LOOK))
            ) as connection:
                connection.sendall(hello)
                answer = _answer(connection, left)
        except (OSError, NotOurs) as reason:
            errors[:] = [str(getattr(reason, "strerror", None) or reason)]
        else:
            if answer:
                return _addresses(answer)
            errors[:] = ["the connection was closed without an answer"]
        time.sleep(min(_LOOK, max(left, 0.0)))
    if early_signals.pending():
        raise _stopped()
    raise Problem(
        f"{hosts[0]}, the main node at {address}, does not answer {host} on port {meeting.port} after "
        f"{meeting.seconds:g} s ({errors[-1]}): did its container start, and does the security group let the "
        "nodes reach each other on every port?",
        kind="host missing",
        exit_code=NOT_STARTED,
    )


def _answer(connection: socket.socket, left: float) -> Message | None:
    """The first host's message; None when it goes away, the time is over, or a stop has come."""
    decoder, end = Decoder(), time.monotonic() + left
    connection.settimeout(_LOOK)
    while time.monotonic() < end and not early_signals.pending():
        try:
            data = connection.recv(1 << 16)
        except socket.timeout:  # another class than TimeoutError in Python 3.9
            continue
        if not data:
            return None
        for message in decoder.feed(data):
            return message
    return None


def _addresses(answer: Message) -> Mapping[str, str]:
    if answer["type"] == "addresses":
        return {str(host): str(address) for host, address in answer["addresses"].items()}
    raise Problem(
        str(answer.get("reason")),
        kind=str(answer.get("kind", "refused")),
        exit_code=int(answer.get("code", NOT_STARTED)),
    )


class _Guests:
    """The other hosts' connections on the first one."""

    def __init__(
        self, selector: selectors.BaseSelector, listener: socket.socket, hosts: Sequence[str], token: str
    ) -> None:
        self._selector, self._listener = selector, listener
        self._hosts, self._token = tuple(hosts), token
        self._decoders: dict[socket.socket, Decoder] = {}
        self._came: dict[str, socket.socket] = {}
        listener.setblocking(False)
        selector.register(listener, selectors.EVENT_READ)

    @property
    def missing(self) -> Sequence[str]:
        return [host for host in self._hosts[1:] if host not in self._came]

    def look(self, left: float) -> None:
        """See who comes, who says something, and who goes, for a moment."""
        for key, _ in self._selector.select(min(_LOOK, max(left, 0.0))):
            if key.data is None:
                self._accept()
            else:
                self._read(key.data)

    def tell_all(self) -> Mapping[str, str]:
        addresses = {host: str(guest.getpeername()[0]) for host, guest in self._came.items()}
        own = str(next(iter(self._came.values())).getsockname()[0])
        addresses = {host: addresses.get(host, own) for host in self._hosts}
        self.send({"type": "addresses", "addresses": addresses})
        return addresses

    def send(self, message: Message) -> None:
        for host, guest in list(self._came.items()):
            self._tell(guest, message, host)

    def close(self) -> None:
        for guest in self._decoders:
            guest.close()

    def _accept(self) -> None:
        try:
            guest, _ = self._listener.accept()
        except OSError:  # gone again
            return
        guest.setblocking(False)
        self._decoders[guest] = Decoder()
        self._selector.register(guest, selectors.EVENT_READ, guest)

    def _read(self, guest: socket.socket) -> None:
        try:
            data = guest.recv(1 << 16)
            messages = self._decoders[guest].feed(data) if data else []
        except BlockingIOError:
            return
        except (OSError, NotOurs):
            data, messages = b"", []
        if not data:
            self._drop(guest)
        for message in messages:
            self._hello(guest, message)

    def _hello(self, guest: socket.socket, message: Message) -> None:
        host = str(message.get("host", ""))
        reason = ""
        if message["type"] != "hello" or message.get("token") != self._token:
            reason = f"{host or 'someone'} belongs to another job"
        elif host not in self._hosts[1:]:
            reason = f"{host!r} is no other host of this job"
        elif host in self._came and self._came[host] is not guest:
            self._drop(self._came[host])  # it lost its connection and came again
        if reason:
            _say(self._hosts[0], f"refused a connection: {reason}")
            self._tell(guest, {"type": "refused", "kind": "refused", "reason": f"{self._hosts[0]}: {reason}"}, host)
            self._drop(guest)
        else:
            self._came[host] = guest

    def _tell(self, guest: socket.socket, message: Message, host: str) -> None:
        try:
            guest.settimeout(_ANSWER)
            guest.sendall(encode(message))
        except OSError as error:  # it is missed when the launchers meet
            _say(self._hosts[0], f"{host} could not be answered: {error}")

    def _drop(self, guest: socket.socket) -> None:
        self._came = {host: other for host, other in self._came.items() if other is not guest}
        if self._decoders.pop(guest, None) is not None:
            self._selector.unregister(guest)
        guest.close()


def _waiting(seconds: float, described: Callable[[], str]) -> Iterator[float]:
    """Seconds that are left, again and again until there are none or a stop has come; says now and then what for."""
    end, word = time.monotonic() + seconds, time.monotonic() + _FIRST_WORD
    while (left := end - time.monotonic()) > 0 and not early_signals.pending():
        if time.monotonic() > word:
            word += _NEXT_WORDS
            _say("", f"waiting: {described()}")
        yield left


def _stopped() -> Problem:
    return Problem("the job was told to stop before its hosts had met", kind="stopped", exit_code=_STOPPED)


def _say(host: str, text: str) -> None:
    sys.stderr.write(f"[launcher{f' {host}' if host else ''}] {text}\n")
    sys.stderr.flush()
