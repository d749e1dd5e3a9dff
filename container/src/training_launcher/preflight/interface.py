"""The network interfaces that the job names exist and can be used."""

from __future__ import annotations

import os
import socket
import struct
import sys
from collections.abc import Iterable, Sequence

_SIOCGIFADDR = 0x8915


def interface_problem(interface: str, variable: str, value: str, root: str = "/") -> str:
    """What is wrong with the interfaces; empty when nothing.

    gloo says it only after torch has been imported, and NCCL in the middle of its connections.

    Args:
        interface: From resourceconfig.json; empty when unknown.
        variable: The one that the chosen collectives read, NCCL_SOCKET_IFNAME or GLOO_SOCKET_IFNAME.
        value: What the user has set it to; empty when nothing.
        root: Another place for ``/sys``, for tests.
    """
    there = [name for _, name in socket.if_nameindex()]
    if interface and interface not in there:
        return f"network_interface_name in resourceconfig.json is {interface!r}, but there are {', '.join(there)}"
    if interface and _read(os.path.join(root, "sys/class/net", interface, "operstate")) == "down":
        return f"the network interface {interface} is down"
    if interface and sys.platform == "linux" and not _has_address(interface):
        return f"the network interface {interface} has no address"
    return variable_problem(variable, value, there)


def variable_problem(variable: str, value: str, there: Sequence[str]) -> str:
    """Whether the variable names interfaces that are there.

    https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-socket-ifname (prefixes, ``=`` for exact
    names, ``^`` for all others); gloo takes exact names, several with commas.
    """
    if variable.startswith("NCCL"):
        taken = not value or any(_nccl_takes(value, name) for name in there)
        return "" if taken else f"{variable}={value} leaves no interface of {', '.join(there)}"
    absent = [name for name in value.split(",") if name and name not in there]
    return f"{variable} names {', '.join(absent)}, but there are {', '.join(there)}" if absent else ""


def _nccl_takes(pattern: str, name: str) -> bool:
    others = pattern.startswith("^")
    pattern = pattern[1:] if others else pattern
    exact = pattern.startswith("=")
    words = (pattern[1:] if exact else pattern).split(",")
    return _matches(name, words, exact=exact) != others


def _matches(name: str, words: Iterable[str], *, exact: bool) -> bool:
    return any(name == word if exact else name.startswith(word) for word in words if word)


def _has_address(interface: str) -> bool:
    import fcntl  # noqa: PLC0415  not on every system

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            fcntl.ioctl(probe.fileno(), _SIOCGIFADDR, struct.pack("256s", interface[:15].encode()))
        except OSError:  # none of version 4
            return any(line.split()[-1:] == [interface] for line in _read("/proc/net/if_inet6").splitlines())
    return True


def _read(path: str) -> str:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read().strip()
    except OSError:  # another system
        return ""
