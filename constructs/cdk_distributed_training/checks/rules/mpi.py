"""Rules about jobs that mpirun starts (DT42x)."""

from __future__ import annotations

from collections.abc import Iterator

from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.data.tables import instance_type_names

_MPIRUN = "https://www.open-mpi.org/doc/v4.1/man1/mpirun.1.php"
_DATA_PARALLEL = "https://docs.aws.amazon.com/sagemaker/latest/dg/distributed-data-parallel-support.html"
_DATA_PARALLEL_TYPES = ("ml.p3.16xlarge", "ml.p3dn.24xlarge", "ml.p4d.24xlarge", "ml.p4de.24xlarge")


def additional_options(options: object) -> Iterator[Finding]:
    """DT420: options that are no list of words, such as one text with all of them."""
    if not isinstance(options, (list, tuple)) or not all(isinstance(word, str) and word for word in options):
        yield Finding(
            rule="DT420",
            prop="distribution.mpi_additional_options",
            got=repr(options),
            allowed="a list of words, such as ['-x', 'NAME=value']",
            fix="give each word of the options as a text of its own",
            source=_MPIRUN,
        )


def data_parallel_instance_type(name: str, *, required: bool = False) -> Iterator[Finding]:
    """DT421: machines for which the data parallel library is not made.

    Args:
        name: The instance type.
        required: Whether the job fails without the library; a type that is newer than the tables may have it.
    """
    if name not in _DATA_PARALLEL_TYPES:
        yield Finding(
            rule="DT421",
            prop="instances.instance_type",
            got=repr(name),
            allowed=f"one of {', '.join(_DATA_PARALLEL_TYPES)}, for SageMaker's data parallel library",
            fix="take another instance type, or Torchrun, where NCCL uses the network to its full on newer machines",
            severity=Severity.ERROR if required and name in instance_type_names() else Severity.WARNING,
            source=_DATA_PARALLEL,
        )


def fallback(name: object) -> Iterator[Finding]:
    """DT422: a fallback that there is not."""
    if name not in ("none", "nccl"):
        yield Finding(
            rule="DT422",
            prop="distribution.fallback",
            got=repr(name),
            allowed="'none' or 'nccl'",
            fix="leave it out to let the job fail where the library is missing",
            source=_DATA_PARALLEL,
        )
