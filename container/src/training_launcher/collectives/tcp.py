"""NCCL over whatever it finds without a plug-in: NVLink within a host, TCP sockets (or InfiniBand) between hosts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from training_launcher.collectives.facts import Facts
from training_launcher.collectives.way import Way, several


class NcclOverTcp(Way):
    """NCCL's own transports."""

    backend: ClassVar[str] = "nccl"
    interface_variable: ClassVar[str] = "NCCL_SOCKET_IFNAME"
    suspects: ClassVar[str] = (
        "the security group must let the hosts reach each other on every port, and NCCL_SOCKET_IFNAME must name the "
        "interface between them"
    )

    def label(self, facts: Facts) -> str:
        """By what is there."""
        if not facts.several_hosts:
            return "nccl within the host"
        return "nccl over InfiniBand or TCP" if _other_fabric(facts) else "nccl over TCP"

    def missing(self, facts: Facts) -> Sequence[str]:
        """Only GPUs."""
        return [] if facts.gpus else ["a GPU"]

    def reason(self, facts: Facts) -> str:
        """Why not EFA."""
        gpus = several(facts.gpus, "GPU")
        if not facts.several_hosts:
            return f"{gpus}, one host"
        return f"{gpus}; EFA lacks {'; '.join(facts.missing_for_efa)}" if facts.missing_for_efa else gpus

    def environment(self, facts: Facts) -> Mapping[str, str]:
        """Without EFA devices aws-ofi-nccl has nothing to do, and its attempt to start can hang (aws-ofi-nccl#174)."""
        return {"NCCL_NET_PLUGIN": "none"} if facts.plugin and not facts.fabric.efa else {}

    def warnings(self, facts: Facts) -> Sequence[str]:
        """A device that is paid for and not used."""
        if facts.several_hosts and facts.fabric.efa:
            return ["this host has EFA devices that NCCL cannot use: training will be slow (see --require-efa)"]
        return ()


def _other_fabric(facts: Facts) -> bool:
    return any(not device.efa for device in facts.fabric.devices)
