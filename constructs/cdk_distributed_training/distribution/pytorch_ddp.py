"""PyTorch's DistributedDataParallel, started as SageMaker's `pytorchddp` is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cdk_distributed_training.distribution.mpi import MPI


@dataclass(frozen=True, kw_only=True)
class PyTorchDDP(MPI):
    """Start the script with `mpirun`, in the environment that SageMaker's own toolkit gives `pytorchddp` jobs.

    `smddprun` starts the script where the image holds it. What `distribution={"pytorchddp": {"enabled": True}}` of the
    SageMaker Python SDK starts; new scripts do as well with `Torchrun`.
    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/data-parallel-framework-estimator.html

    Attributes:
        process_count_per_node: As for `MPI`.
        mpi_additional_options: As for `MPI`.
    """

    kind: ClassVar[str] = "pytorchddp"
