"""Which kind of hosts this machine gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cdk_distributed_training.local.hosts import namespaces
from cdk_distributed_training.local.hosts.base import Hosts, HostsUnavailableError
from cdk_distributed_training.local.hosts.loopback import LoopbackHosts

KINDS: dict[str, type[Hosts]] = {hosts.kind: hosts for hosts in (namespaces.NamespaceHosts, LoopbackHosts)}


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A kind of hosts and why it was taken.

    Attributes:
        kind: `namespaces` or `loopback`.
        reason: Why not namespaces, if they were not asked away; else empty.
    """

    kind: str
    reason: str = ""

    def make(self, names: Sequence[str], root: Path, run_id: str) -> Hosts:
        """The hosts themselves."""
        return KINDS[self.kind](names, root, run_id)


def choose(kind: str | None = None) -> Choice:
    """Take the kind that was asked for, or the most real one that this machine can make.

    Args:
        kind: `namespaces`, `loopback` or, to leave it to the machine, None.

    Raises:
        HostsUnavailableError: Namespaces were asked for and cannot be made; the text says why.
        ValueError: There is no such kind.
    """
    if kind is not None and kind not in KINDS:
        raise ValueError(f"hosts must be one of {', '.join(KINDS)}, got {kind!r}")
    if kind == LoopbackHosts.kind:
        return Choice(kind=kind)
    reason = namespaces.available()
    if not reason:
        return Choice(kind=namespaces.NamespaceHosts.kind)
    if kind is not None:
        raise HostsUnavailableError(reason)
    return Choice(kind=LoopbackHosts.kind, reason=reason)
