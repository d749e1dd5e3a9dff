"""TensorFlow with mirrored variables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules import launch_kinds
from cdk_distributed_training.distribution.distribution import Distribution
from cdk_distributed_training.request.instances import Instances


@dataclass(frozen=True, kw_only=True)
class MultiWorkerMirrored(Distribution):
    """Start one worker on each machine with `TF_CONFIG`, for TensorFlow's `MultiWorkerMirroredStrategy`.

    Source: https://www.tensorflow.org/tutorials/distribute/multi_worker_with_keras

    Attributes:
        master_port: Port of every worker; 8890 unless given.
    """

    master_port: int | None = None

    def launcher_arguments(self) -> list[str | int]:
        """The launcher's kind `multi-worker-mirrored` and its option."""
        arguments: list[str | int] = ["multi-worker-mirrored"]
        if self.master_port is not None:
            arguments += ["--master-port", self.master_port]
        return arguments

    def findings(self, instances: Instances, *, known: Callable[[object], bool]) -> Iterator[Finding]:
        """A port that is none."""
        del instances
        if self.master_port is not None and known(self.master_port):
            yield from launch_kinds.master_port(self.master_port)
