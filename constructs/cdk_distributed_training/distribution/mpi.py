"""Open MPI's mpirun."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules import distribution as rules
from cdk_distributed_training.checks.rules import mpi as mpi_rules
from cdk_distributed_training.distribution.distribution import Distribution
from cdk_distributed_training.request.instances import Instances


@dataclass(frozen=True, kw_only=True)
class MPI(Distribution):
    """Start the script with `mpirun` on the first machine, which starts the processes of all machines.

    Scripts that use `torch.distributed` run unchanged: they find `RANK`, `WORLD_SIZE`, `MASTER_ADDR` and the rest. The
    image needs Open MPI 4 or 5, which AWS's deep learning containers hold, and no ssh.
    Source: https://www.open-mpi.org/doc/v4.1/man1/mpirun.1.php

    Attributes:
        process_count_per_node: Processes on each machine; `auto` starts one for each GPU or NeuronCore that the
            launcher finds, one if it finds none.
        mpi_additional_options: Further words for mpirun, such as `["-x", "NAME=value"]`; each word is passed on as it
            is. An MCA parameter given here replaces the launcher's own value of it.
    """

    kind: ClassVar[str] = "mpirun"

    process_count_per_node: int | Literal["auto"] = "auto"
    mpi_additional_options: Sequence[str] = ()

    def launcher_arguments(self) -> list[str | int]:
        """The launcher's kind and its options."""
        return [
            self.kind,
            "--nproc-per-node",
            self.process_count_per_node,
            # one word, since most options begin with a dash
            *(f"--mpi-option={word}" for word in self.mpi_additional_options),
        ]

    def findings(self, instances: Instances, *, known: Callable[[object], bool]) -> Iterator[Finding]:
        """A count that is no count, more processes than accelerators, options that are no list of words."""
        if known(self.process_count_per_node):
            facts = instances.facts if known(instances.instance_type) else None
            yield from rules.process_count_per_node(self.process_count_per_node, facts)
        if known(self.mpi_additional_options):
            yield from mpi_rules.additional_options(self.mpi_additional_options)
