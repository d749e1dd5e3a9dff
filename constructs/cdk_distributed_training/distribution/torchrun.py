"""PyTorch's own launcher."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules import distribution as rules
from cdk_distributed_training.checks.rules import launcher_options as word_rules
from cdk_distributed_training.distribution.distribution import Distribution
from cdk_distributed_training.request.instances import Instances


@dataclass(frozen=True, kw_only=True)
class Torchrun(Distribution):
    """Start the script with `torchrun` on every machine.

    Source: https://docs.pytorch.org/docs/stable/elastic/run.html

    Attributes:
        process_count_per_node: Processes on each machine; `auto` starts one for each GPU or NeuronCore that the
            launcher finds, one if it finds none.
        max_restarts: How often torchrun starts all processes again after one has failed, before the job fails.
        rdzv_backend: How the machines find each other: `static` or `c10d`; the launcher's choice unless given.
        rdzv_conf: Further settings of the rendezvous, such as `{"join_timeout": 900}` in seconds.
        additional_arguments: Further words for torchrun, such as `["--numa-binding=node"]`; each is passed on as it is.
    """

    process_count_per_node: int | Literal["auto"] = "auto"
    max_restarts: int = 0
    rdzv_backend: Literal["static", "c10d"] | None = None
    rdzv_conf: Mapping[str, str | int] = field(default_factory=dict)
    additional_arguments: Sequence[str] = ()

    def launcher_arguments(self) -> list[str | int]:
        """The launcher's kind `torchrun` and its options."""
        arguments: list[str | int] = ["torchrun", "--nproc-per-node", self.process_count_per_node]
        if self.max_restarts != 0:
            arguments += ["--max-restarts", self.max_restarts]
        if self.rdzv_backend is not None:
            arguments += ["--rdzv-backend", self.rdzv_backend]
        if self.rdzv_conf:
            arguments += ["--rdzv-conf", ",".join(f"{name}={value}" for name, value in self.rdzv_conf.items())]
        # one word, since most arguments begin with a dash
        return [*arguments, *(f"--torchrun-argument={word}" for word in self.additional_arguments)]

    def findings(self, instances: Instances, *, known: Callable[[object], bool]) -> Iterator[Finding]:
        """Counts that are no counts, and more processes than accelerators."""
        if known(self.process_count_per_node):
            facts = instances.facts if known(instances.instance_type) else None
            yield from rules.process_count_per_node(self.process_count_per_node, facts)
        if known(self.max_restarts):
            yield from rules.max_restarts(self.max_restarts)
        if self.rdzv_backend is not None and known(self.rdzv_backend):
            yield from rules.rdzv_backend(self.rdzv_backend)
        if known(self.additional_arguments):
            yield from word_rules.words("additional_arguments", self.additional_arguments)
