"""smdistributed-dataparallel: scripts that import SageMaker's distributed data parallel library (SMDDP).

The library is closed and lies in some of AWS's PyTorch containers only. Policy where it is missing: the job ends before
anything starts, with a message that says so; or, by ``--fallback nccl``, it starts without the library for scripts that
choose their backend by what is there, and ``TRAINING_SMDDP`` tells them which it is.
https://docs.aws.amazon.com/sagemaker/latest/dg/data-parallel-modify-sdp-pt.html
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import ClassVar

from training_launcher.launchers.base import Situation
from training_launcher.launchers.pytorchddp import PytorchDdp
from training_launcher.needs import Need, PythonModule

LIBRARY = PythonModule(
    "smdistributed.dataparallel",
    "take an image that holds SageMaker's data parallel library, see "
    "https://docs.aws.amazon.com/sagemaker/latest/dg/distributed-data-parallel-support.html, "
    "or give --fallback nccl if the script can do without",
)


class SmdistributedDataparallel(PytorchDdp):
    """Like `pytorchddp`, but the library must be there."""

    name: ClassVar[str] = "smdistributed-dataparallel"
    summary: ClassVar[str] = "mpirun and smddprun for scripts that use SageMaker's data parallel library"

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """Mpirun's options, and what to do without the library."""
        super().add_arguments(parser)
        parser.add_argument(
            "--fallback",
            choices=["none", "nccl"],
            default="none",
            help="where the library is missing: end with a message, or start all the same for a script that then uses "
            "NCCL (default: none)",
        )

    def needs(self, situation: Situation) -> tuple[Need, ...]:
        """The library, unless there is a fallback."""
        library = () if situation.options.fallback != "none" else (LIBRARY,)
        return (*super().needs(situation), *library)

    def environment(self, situation: Situation) -> Mapping[str, str]:
        """`TRAINING_SMDDP`: ``1`` where the library is there, ``0`` where the fallback applies."""
        there = LIBRARY.found(situation.working_directory)
        return {**super().environment(situation), "TRAINING_SMDDP": str(int(there))}

    def framework_parameters(self, situation: Situation) -> Mapping[str, object]:
        """As the SDK's hyperparameters would have them; transformers looks here."""
        group = situation.cluster.group_of(situation.cluster.current_host)
        return {"sagemaker_distributed_dataparallel_enabled": True, "sagemaker_instance_type": group.instance_type}
