"""Faults that a person injects into a local run: a machine or a process is lost, or a cable is pulled."""

from __future__ import annotations

import abc
import os
import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass

from cdk_distributed_training.local.errors import LocalModeError
from cdk_distributed_training.local.hosts import Choice, NamespaceHosts
from cdk_distributed_training.local.hosts.host_processes import first_with

_FORM = re.compile(r"(?P<host>[^:@]+)(:(rank)?(?P<rank>\d+))?@(?P<seconds>\d+(\.\d+)?)s?")


@dataclass(frozen=True, kw_only=True)
class Fault(abc.ABC):
    """What goes wrong, on which host, and when.

    Attributes:
        host: Name of the host.
        seconds: Seconds after the start of the training.
    """

    host: str
    seconds: float

    @property
    @abc.abstractmethod
    def text(self) -> str:
        """What happens, in words."""

    @abc.abstractmethod
    def inject(self, hosts: NamespaceHosts) -> bool:
        """Let it happen; False while there is nothing yet that it could hit."""


class KillHost(Fault):
    """A whole machine is lost, with all its processes at once."""

    @property
    def text(self) -> str:
        """What happens, in words."""
        return f"kill {self.host}"

    def inject(self, hosts: NamespaceHosts) -> bool:
        """Kill the host's first process; the kernel takes the others along."""
        if hosts.init_pid(self.host) is None:
            return False
        hosts.kill(self.host)
        return True


@dataclass(frozen=True, kw_only=True)
class KillRank(Fault):
    """One process of the training is lost, as the kernel ends one when memory is short; not before it runs the script.

    Attributes:
        rank: Its rank among all processes of the job.
    """

    rank: int

    @property
    def text(self) -> str:
        """What happens, in words."""
        return f"kill rank {self.rank} on {self.host}"

    def inject(self, hosts: NamespaceHosts) -> bool:
        """SIGKILL to the rank's own process."""
        init_pid = hosts.init_pid(self.host)
        process = None if init_pid is None else first_with(init_pid, f"RANK={self.rank}")
        if process is None:
            return False
        os.kill(process, signal.SIGKILL)
        return True


class DropLink(Fault):
    """A cable is pulled: the host's packets vanish, and nobody is told."""

    @property
    def text(self) -> str:
        """What happens, in words."""
        return f"drop the link of {self.host}"

    def inject(self, hosts: NamespaceHosts) -> bool:
        """Pull it."""
        hosts.drop_link(self.host)
        return True


def parse_faults(kills: Sequence[str], dropped_links: Sequence[str]) -> list[Fault]:
    """Read what stands behind `--kill` and `--drop-link`.

    Raises:
        LocalModeError: An item has another form.
    """
    faults: list[Fault] = []
    for item in kills:
        parts = _parts("--kill", item, "HOST@SECONDS or HOST:RANK@SECONDS, for example --kill algo-2:3@5")
        host, seconds = parts["host"], float(parts["seconds"])
        if parts["rank"] is None:
            faults.append(KillHost(host=host, seconds=seconds))
        else:
            faults.append(KillRank(host=host, seconds=seconds, rank=int(parts["rank"])))
    for item in dropped_links:
        parts = _parts("--drop-link", item, "HOST@SECONDS, for example --drop-link algo-2@5")
        if parts["rank"] is not None:
            raise LocalModeError(f"--drop-link {item}: a link belongs to a host, not to a rank")
        faults.append(DropLink(host=parts["host"], seconds=float(parts["seconds"])))
    return sorted(faults, key=lambda fault: fault.seconds)


def check_faults(faults: Sequence[Fault], names: Sequence[str], hosts: Choice) -> None:
    """Refuse faults on hosts that the job does not have, or that are no hosts of their own.

    Raises:
        LocalModeError: One of the two.
    """
    for fault in faults:
        if fault.host not in names:
            raise LocalModeError(f"cannot {fault.text}: the job's hosts are {', '.join(names)}")
    if faults and hosts.kind != NamespaceHosts.kind:
        why = hosts.reason or f"--hosts {hosts.kind} was asked for"
        raise LocalModeError(
            f"cannot {faults[0].text}: that takes hosts with a network of their own (--hosts namespaces), "
            f"and here they would share this machine's: {why}"
        )


def _parts(option: str, item: str, expected: str) -> dict[str, str]:
    match = _FORM.fullmatch(item)
    if match is None:
        raise LocalModeError(f"{option} {item}: expected {expected}")
    return match.groupdict()
