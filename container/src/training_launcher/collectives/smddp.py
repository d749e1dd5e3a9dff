"""SMDDP, SageMaker's distributed data parallel library: a closed library in older AWS images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from training_launcher.collectives.efa import NcclOverEfa, tuner_warnings
from training_launcher.collectives.facts import Facts
from training_launcher.collectives.way import Way

_SUPPORTED = ("ml.p4d.24xlarge", "ml.p4de.24xlarge")
"""The types that the library optimises for, as its own documentation lists them."""


class Smddp(Way):
    """https://docs.aws.amazon.com/sagemaker/latest/dg/distributed-data-parallel-support.html."""

    backend: ClassVar[str] = "smddp"
    interface_variable: ClassVar[str] = "NCCL_SOCKET_IFNAME"
    suspects: ClassVar[str] = NcclOverEfa.suspects

    def label(self, facts: Facts) -> str:
        """It goes over EFA by itself."""
        return "smddp"

    def uses_efa(self, facts: Facts) -> bool:
        """Where there is one."""
        return bool(facts.fabric.efa)

    def missing(self, facts: Facts) -> Sequence[str]:
        """The library and GPUs."""
        return [
            *([] if facts.gpus else ["a GPU"]),
            *([] if "smddp" in facts.packages else ["smdistributed.dataparallel with its shared library"]),
        ]

    def objection(self, facts: Facts) -> str:
        """Elsewhere it is no faster than NCCL, or does not work at all."""
        if not facts.several_hosts:
            return "there is one host"
        if facts.instance_type not in _SUPPORTED:
            return f"it supports {' and '.join(_SUPPORTED)}, and this is {facts.instance_type or 'an unknown type'}"
        return ""

    def reason(self, facts: Facts) -> str:
        """Library and type."""
        return f"the library is installed and supports {facts.instance_type}"

    def environment(self, facts: Facts) -> Mapping[str, str]:
        """What it does not carry itself, NCCL carries, and scripts may take NCCL all the same."""
        return {} if facts.missing_for_efa else NcclOverEfa().environment(facts)

    def warnings(self, facts: Facts) -> Sequence[str]:
        """As for NCCL over EFA."""
        return tuner_warnings(facts)
