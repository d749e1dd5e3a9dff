"""Messages on the control channel: four bytes of length, then a JSON object."""

from __future__ import annotations

import json
import struct
from typing import Any

LARGEST = 8 << 20
_LENGTH = struct.Struct("!I")

Message = dict[str, Any]


class NotOurs(ValueError):  # noqa: N818
    """The bytes are no message of a launcher."""


def encode(message: Message) -> bytes:
    """A message as bytes."""
    body = json.dumps(message).encode()
    return _LENGTH.pack(len(body)) + body


class Decoder:
    """Turns received bytes, in whatever pieces, into messages."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[Message]:
        """Messages that are complete now.

        Raises:
            NotOurs: Something else than a launcher is talking.
        """
        self._buffer += data
        messages = []
        while len(self._buffer) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._buffer)
            if length > LARGEST:
                raise NotOurs(f"a message of {length} bytes")
            end = _LENGTH.size + length
            if len(self._buffer) < end:
                break
            body = bytes(self._buffer[_LENGTH.size : end])
            del self._buffer[:end]
            try:
                message = json.loads(body)
            except ValueError as error:
                raise NotOurs("no JSON") from error
            if not isinstance(message, dict) or not isinstance(message.get("type"), str):
                raise NotOurs("no message type")
            messages.append(message)
        return messages
