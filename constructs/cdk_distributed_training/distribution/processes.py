"""Processes that the launcher starts itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules import distribution as rules
from cdk_distributed_training.checks.rules import launch_kinds
from cdk_distributed_training.distribution.distribution import Distribution
from cdk_distributed_training.request.instances import Instances


@dataclass(frozen=True, kw_only=True)
class Processes(Distribution):
    """Start one process for each accelerator, with the variables of `init_method="env://"`.

    Like `Torchrun` but for restarts: the script's first line runs seconds earlier and each machine keeps the memory
    of torchrun's own process.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#environment-variable-initialization

    Attributes:
        process_count_per_node: Processes on each machine; `auto` starts one for each GPU or NeuronCore that the
            launcher finds, one if it finds none.
        master_port: Port on the first machine where rank 0 listens; 7777 unless given.
    """

    process_count_per_node: int | Literal["auto"] = "auto"
    master_port: int | None = None

    def launcher_arguments(self) -> list[str | int]:
        """The launcher's kind `processes` and its options."""
        arguments: list[str | int] = ["processes", "--nproc-per-node", self.process_count_per_node]
        if self.master_port is not None:
            arguments += ["--master-port", self.master_port]
        return arguments

    def findings(self, instances: Instances, *, known: Callable[[object], bool]) -> Iterator[Finding]:
        """Counts and ports that are none, and more processes than accelerators."""
        if known(self.process_count_per_node):
            facts = instances.facts if known(instances.instance_type) else None
            yield from rules.process_count_per_node(self.process_count_per_node, facts)
        if self.master_port is not None and known(self.master_port):
            yield from launch_kinds.master_port(self.master_port)
