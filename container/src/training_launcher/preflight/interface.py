"""The network interfaces that the job names exist and can be used."""

from __future__ import annotations

import os
import socket
import struct
import sys
from collections.abc import Iterable, Mapping, Sequence

_SIOCGIFADDR = 0x8915


def interface_problem(interface: str, environment: Mapping[str, str], root: str = "/") -> str:
    """What is wrong with the interfaces; empty when nothing.

    gloo says it only after torch has been imported, and NCCL in the middle of its connections.

    Args:
        interface: From resourceconfig.json; empty when unknown.
        environment: As the ranks will have it, for NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME.
        root: Another place for ``/sys``, for tests.
    """
    there = [name for _, name in socket.if_nameindex()]
    if interface and interface not in there:
        return f"network_interface_name in resourceconfig.json is {interface!r}, but there are {', '.join(there)}"
    if interface and _read(os.path.join(root, "sys/class/net", interface, "operstate")) == "down":
        return f"the network interface {interface} is down"
    if interface and sys.platform == "linux" and not _has_address(interface):
        return f"the network interface {interface} has no address"
    return variables_problem(environment, there)


def variables_problem(environment: Mapping[str, str], there: Sequence[str]) -> str:
    """Whether the variables for collectives name interfaces that are there.

    https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-socket-ifname (prefixes, ``=`` for exact
    names, ``^`` for all others); gloo takes exact names, several with commas.
    """
    gloo = environment.get("GLOO_SOCKET_IFNAME", "")
    absent = [name for name in gloo.split(",") if name and name not in there]
    if absent:
        return f"GLOO_SOCKET_IFNAME names {', '.join(absent)}, but there are {', '.join(there)}"
    nccl = environment.get("NCCL_SOCKET_IFNAME", "")
    if nccl and not any(_nccl_takes(nccl, name) for name in there):
        return f"NCCL_SOCKET_IFNAME={nccl} leaves no interface of {', '.join(there)}"
    return ""


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
