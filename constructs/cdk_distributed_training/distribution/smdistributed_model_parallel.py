"""SageMaker's model parallel library, version 1."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules import library_support
from cdk_distributed_training.checks.rules import model_parallel as model_parallel_rules
from cdk_distributed_training.distribution.model_parallel_parameters import parameter_arguments
from cdk_distributed_training.distribution.mpi import MPI
from cdk_distributed_training.request.instances import Instances


@dataclass(frozen=True, kw_only=True)
class SMDistributedModelParallel(MPI):
    """Start a script that imports `smdistributed.modelparallel` with `mpirun`, with the library's parameters.

    Scripts find the parameters as `SM_HP_MP_PARAMETERS`. The library is part of AWS's PyTorch containers up to 2.0; new
    scripts use version 2, see `SMP`.
    Source: https://github.com/aws/sagemaker-python-sdk/blob/v2.192.1/doc/api/training/smd_model_parallel_general.rst

    Attributes:
        process_count_per_node: As for `MPI`.
        mpi_additional_options: As for `MPI`.
        parameters: The library's parameters by their own names, such as `{"partitions": 2, "microbatches": 4}`.
    """

    kind: ClassVar[str] = "smp-v1"

    parameters: Mapping[str, object] = field(default_factory=dict)

    def launcher_arguments(self) -> list[str | int]:
        """The launcher's kind and its options, and the parameters."""
        return [*super().launcher_arguments(), *parameter_arguments(self.parameters)]

    def findings(self, instances: Instances, *, known: Callable[[object], bool]) -> Iterator[Finding]:
        """What `MPI` finds, and parameters that the library would refuse."""
        yield from super().findings(instances, known=known)
        types = [name for name in instances.types if known(name)]
        yield from library_support.library_on_machines(self.kind, types)
        yield from model_parallel_rules.version_1_parameters(
            {name: value for name, value in self.parameters.items() if known(value)}
        )
