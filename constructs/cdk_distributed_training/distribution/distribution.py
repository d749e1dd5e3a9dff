"""What every way of starting the processes has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import ClassVar

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.request.instances import Instances


class Distribution(ABC):
    """How a job's processes are started on its machines: a value that renders to the launcher's command line."""

    needs_model_parallel_image: ClassVar[bool] = False
    """Whether only AWS's images with the model parallel library, version 2, hold what it starts."""

    @abstractmethod
    def launcher_arguments(self) -> list[str | int]:
        """The launcher's kind and its options, such as `["torchrun", "--nproc-per-node", "auto"]`.

        What follows, `--` and the script, is not the distribution's. Numbers may be CDK tokens.
        """

    @abstractmethod
    def findings(self, instances: Instances, *, known: Callable[[object], bool]) -> Iterable[Finding]:
        """What is wrong with this distribution on these machines.

        Args:
            instances: The machines of the job.
            known: Whether a value can be judged; false for CDK tokens.
        """
