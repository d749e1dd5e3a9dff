"""SageMaker's distributed data parallel library."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules import mpi as mpi_rules
from cdk_distributed_training.distribution.mpi import MPI
from cdk_distributed_training.request.instances import Instances


@dataclass(frozen=True, kw_only=True)
class SMDistributedDataParallel(MPI):
    """Start a script that imports `smdistributed.dataparallel` (SMDDP) with `mpirun` and `smddprun`.

    The library is part of some of AWS's PyTorch containers only.
    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/distributed-data-parallel-support.html

    Attributes:
        process_count_per_node: As for `MPI`.
        mpi_additional_options: As for `MPI`.
        fallback: What happens where the image does not hold the library: with `none` the job fails before anything
            starts; with `nccl` the script starts all the same and finds `TRAINING_SMDDP` set to `0`.
    """

    kind: ClassVar[str] = "smdistributed-dataparallel"

    fallback: Literal["none", "nccl"] = "none"

    def launcher_arguments(self) -> list[str | int]:
        """The launcher's kind and its options."""
        fallback = ["--fallback", self.fallback] if self.fallback != "none" else []
        return [*super().launcher_arguments(), *fallback]

    def findings(self, instances: Instances, *, known: Callable[[object], bool]) -> Iterator[Finding]:
        """What `MPI` finds, machines that the library does not run on, a fallback that there is not."""
        yield from super().findings(instances, known=known)
        if known(instances.instance_type):
            required = self.fallback == "none"
            yield from mpi_rules.data_parallel_instance_type(instances.instance_type, required=required)
        if known(self.fallback):
            yield from mpi_rules.fallback(self.fallback)
