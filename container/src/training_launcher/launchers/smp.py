"""smp: SageMaker's model parallel library, version 2 (``torch.sagemaker``), which torchrun starts.

https://docs.aws.amazon.com/sagemaker/latest/dg/model-parallel-v2.html
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import ClassVar

from training_launcher.launchers.base import Launch, Situation
from training_launcher.launchers.model_parallel import add_parameters, with_parameters
from training_launcher.launchers.torchrun import Torchrun


class Smp(Torchrun):
    """torchrun, with the parameters where the library looks for them."""

    name: ClassVar[str] = "smp"
    summary: ClassVar[str] = "torchrun for SageMaker's model parallel library, version 2"

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """Torchrun's options, and the library's parameters."""
        super().add_arguments(parser)
        add_parameters(parser)

    def hyperparameters(self, options: argparse.Namespace, hyperparameters: Mapping[str, str]) -> Mapping[str, str]:
        """The job's, with ``mp_parameters``."""
        return with_parameters(options, hyperparameters)

    def launch(self, situation: Situation) -> Launch:
        """As torchrun; the library finds out from ``SM_FRAMEWORK_PARAMS`` that it was."""
        launch = super().launch(situation)
        parameters = '{"sagemaker_torch_distributed_enabled":true}'
        return launch._replace(environment={**launch.environment, "SM_FRAMEWORK_PARAMS": parameters})
