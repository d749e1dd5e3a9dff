"""smp-v1: SageMaker's model parallel library, version 1 (``smdistributed.modelparallel``), which mpirun starts.

https://docs.aws.amazon.com/sagemaker/latest/dg/model-parallel.html
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import ClassVar

from training_launcher.launchers.base import Situation
from training_launcher.launchers.model_parallel import add_parameters, parameters_of, with_parameters
from training_launcher.launchers.mpirun import Mpirun
from training_launcher.needs import Need, Program, PythonModule

SMDDPMPRUN = Program("smddpmprun", "it comes with the library")
LIBRARY = PythonModule(
    "smdistributed.modelparallel",
    "take an image that holds version 1 of SageMaker's model parallel library, see "
    "https://docs.aws.amazon.com/sagemaker/latest/dg/distributed-model-parallel-support.html, "
    "or move the script to version 2 and the launch kind smp",
)


class SmpV1(Mpirun):
    """mpirun, with the parameters where the library looks for them."""

    name: ClassVar[str] = "smp-v1"
    summary: ClassVar[str] = "mpirun for SageMaker's model parallel library, version 1"

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """Mpirun's options, and the library's parameters."""
        super().add_arguments(parser)
        add_parameters(parser)

    def hyperparameters(self, options: argparse.Namespace, hyperparameters: Mapping[str, str]) -> Mapping[str, str]:
        """The job's, with ``mp_parameters``."""
        return with_parameters(options, hyperparameters)

    def needs(self, situation: Situation) -> tuple[Need, ...]:
        """The library."""
        return (*super().needs(situation), LIBRARY)

    def wrapper(self, situation: Situation) -> tuple[str, ...]:
        """``smddpmprun``, which prepares SMDDP, where it is installed and no other backend is asked for."""
        backend = parameters_of(situation.hyperparameters).get("ddp_dist_backend", "auto")
        if backend != "auto" or not SMDDPMPRUN.found(situation.environment):
            return ()
        group = situation.cluster.group_of(situation.cluster.current_host)
        return (SMDDPMPRUN.name, "-i", group.instance_type, "--allow-bypass")
