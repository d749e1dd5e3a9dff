"""Which network interface has an address, where no file says it."""

from __future__ import annotations

import socket
import struct
import sys

_SIOCGIFADDR = 0x8915


def interface_of(address: str) -> str:
    """The network interface with an IPv4 address; empty when none has it, or it cannot be said.

    >>> interface_of("127.0.0.1")
    'lo'
    """
    if not address or sys.platform != "linux":
        return ""
    import fcntl  # noqa: PLC0415  not on every system

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            try:
                found = fcntl.ioctl(probe.fileno(), _SIOCGIFADDR, struct.pack("256s", name[:15].encode()))
            except OSError:  # it has no address of version 4
                continue
            if socket.inet_ntoa(found[20:24]) == address:
                return name
    return ""
