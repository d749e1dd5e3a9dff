"""TensorFlow with parameter servers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules import launch_kinds
from cdk_distributed_training.distribution.distribution import Distribution
from cdk_distributed_training.request.instances import Instances

_CHIEFS = ("chief", "master")
_SERVERS = ("script", "tensorflow")


@dataclass(frozen=True, kw_only=True)
class ParameterServer(Distribution):
    """Start a chief on the first machine, a worker on each other one and a parameter server on all, with `TF_CONFIG`.

    The job ends with the chief. On a single machine the script runs alone, without `TF_CONFIG`.

    Source: https://www.tensorflow.org/tutorials/distribute/parameter_server_training

    Attributes:
        chief_task: What the chief is called in `TF_CONFIG`; `chief` unless given. Scripts for the SageMaker Python
            SDK's `parameter_server` expect `master`.
        servers: What a parameter server runs: the script itself, or TensorFlow's own server (`tensorflow`), as the
            SageMaker Python SDK has it.
        master_port: Port on every machine of its chief or worker; the parameter server has the next one. 2222 unless
            given.
    """

    chief_task: Literal["chief", "master"] = "chief"
    servers: Literal["script", "tensorflow"] = "script"
    master_port: int | None = None

    def launcher_arguments(self) -> list[str | int]:
        """The launcher's kind `parameter-server` and its options."""
        arguments: list[str | int] = ["parameter-server"]
        if self.chief_task != "chief":
            arguments += ["--chief-task", self.chief_task]
        if self.servers != "script":
            arguments += ["--servers", self.servers]
        if self.master_port is not None:
            arguments += ["--master-port", self.master_port]
        return arguments

    def findings(self, instances: Instances, *, known: Callable[[object], bool]) -> Iterator[Finding]:
        """Words and ports that are none."""
        del instances
        for prop, word, allowed in (("chief_task", self.chief_task, _CHIEFS), ("servers", self.servers, _SERVERS)):
            if known(word):
                yield from launch_kinds.choice(prop, word, allowed)
        if self.master_port is not None and known(self.master_port):
            yield from launch_kinds.master_port(self.master_port)
