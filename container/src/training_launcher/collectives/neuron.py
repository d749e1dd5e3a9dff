"""Trainium: the native ``neuron`` backend, and ``xla`` through torch_xla."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from training_launcher.collectives.facts import Facts
from training_launcher.collectives.way import Way, several
from training_launcher.neuron import OVER_EFA

_SUSPECTS = (
    "the security group must allow all traffic from and to itself, by its own id (EFA traffic does not match rules "
    "with addresses), and all hosts must be in one subnet"
)


class _OnNeuron(Way):
    """What both have in common."""

    package: ClassVar[str]
    suspects: ClassVar[str] = _SUSPECTS

    def label(self, facts: Facts) -> str:
        """The backend, and EFA where it is used."""
        return f"{self.backend} over EFA" if self.uses_efa(facts) else self.backend

    def uses_efa(self, facts: Facts) -> bool:
        """Wherever there is one; Neuron's runtime brings its own libfabric."""
        return facts.several_hosts and bool(facts.fabric.efa)

    def missing(self, facts: Facts) -> Sequence[str]:
        """Cores and the package."""
        return [
            *([] if facts.neuron_cores else ["a Neuron core"]),
            *([] if self.package in facts.packages else [f"the package {self.package}"]),
        ]

    def reason(self, facts: Facts) -> str:
        """Cores and package."""
        return f"{several(facts.neuron_cores, 'Neuron core')} and {self.package}"

    def environment(self, facts: Facts) -> Mapping[str, str]:
        """Those of EFA, where it is used."""
        return OVER_EFA if self.uses_efa(facts) else {}


class Xla(_OnNeuron):
    """``xla``: torch_xla with torch_neuronx, on every Trainium."""

    backend: ClassVar[str] = "xla"
    package: ClassVar[str] = "torch_xla"


class Neuron(_OnNeuron):
    """``neuron``: torch_neuronx's own backend, without torch_xla, on Trainium2 and later."""

    backend: ClassVar[str] = "neuron"
    package: ClassVar[str] = "torch_neuronx"

    def objection(self, facts: Facts) -> str:
        """Where torch_xla is installed, torch_neuronx is the one that belongs to it."""
        if "torch_xla" in facts.packages:
            return "torch_xla is installed"
        return "the native backend needs Trainium2 or later" if facts.neuron_family == "trn1" else ""
