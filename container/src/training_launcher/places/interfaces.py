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


def interface_towards(address: str) -> str:
    """The network interface by which another machine's IPv4 address is reached; empty when it cannot be said.

    Nothing is sent: the kernel chooses the way when a datagram socket is connected.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((address, 9))
        except OSError:  # no way there, or an address of version 6
            return ""
        found = interface_of(probe.getsockname()[0])
    return "" if found == "lo" else found
