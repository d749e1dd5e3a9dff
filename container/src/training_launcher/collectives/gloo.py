"""gloo: tensors in the host's memory, over TCP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from training_launcher.collectives.facts import Facts
from training_launcher.collectives.way import Way


class Gloo(Way):
    """Works everywhere, and is the only one without an accelerator."""

    backend: ClassVar[str] = "gloo"
    interface_variable: ClassVar[str] = "GLOO_SOCKET_IFNAME"
    suspects: ClassVar[str] = (
        "the security group must let the hosts reach each other on every port, and GLOO_SOCKET_IFNAME must name the "
        "interface between them"
    )

    def label(self, facts: Facts) -> str:
        """Always TCP."""
        return "gloo over TCP" if facts.several_hosts else "gloo"

    def missing(self, facts: Facts) -> Sequence[str]:
        """Nothing."""
        return ()

    def reason(self, facts: Facts) -> str:
        """What would have been better and is not there."""
        if facts.gpus:
            return f"{facts.gpus} GPU(s) are not used by it"
        if facts.neuron_cores:
            return "there are Neuron cores, but neither torch_xla nor torch_neuronx to use them"
        if facts.environment.get("CUDA_VISIBLE_DEVICES", "0") in ("", "-1"):
            return "CUDA_VISIBLE_DEVICES hides every GPU"
        return "no accelerator"
