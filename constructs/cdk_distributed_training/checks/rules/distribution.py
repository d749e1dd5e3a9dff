"""Rules about machines and the processes on them (DT4xx)."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.data.tables import InstanceType

_RESOURCE_CONFIG = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ResourceConfig.html"
_TORCHRUN = "https://docs.pytorch.org/docs/stable/elastic/run.html"


def _is_whole_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def instance_type(name: str, known_names: Collection[str]) -> Iterator[Finding]:
    """DT401: an instance type that the table does not know, which may be newer than the table."""
    if name not in known_names:
        yield Finding(
            rule="DT401",
            prop="instances.instance_type",
            got=repr(name),
            allowed="a training instance type, such as 'ml.p5.48xlarge'",
            fix="check the spelling, or ignore this if the type is newer than this library",
            severity=Severity.WARNING,
            source=_RESOURCE_CONFIG,
        )


def instance_count(count: object) -> Iterator[Finding]:
    """DT402: a number of machines that is no number of machines."""
    if not (isinstance(count, int) and _is_whole_number(count) and count >= 1):
        yield Finding(
            rule="DT402",
            prop="instances.count",
            got=repr(count),
            allowed="a whole number of at least 1",
            fix="give the number of machines",
            source=_RESOURCE_CONFIG,
        )


def process_count_per_node(count: object, machine: InstanceType | None) -> Iterator[Finding]:
    """DT403: no number of processes. DT404: more processes than the machine has accelerators."""
    if count == "auto":
        return
    if not (isinstance(count, int) and _is_whole_number(count) and count >= 1):
        yield Finding(
            rule="DT403",
            prop="distribution.process_count_per_node",
            got=repr(count),
            allowed="'auto', or a whole number of at least 1",
            fix="leave it out to start one process for each accelerator",
            source=_TORCHRUN,
        )
        return
    accelerators = (machine.gpu_count or machine.neuron_cores) if machine else 0
    if machine and accelerators and count > accelerators:
        yield Finding(
            rule="DT404",
            prop="distribution.process_count_per_node",
            got=str(count),
            allowed=f"at most {accelerators}, the accelerators of {machine.name}",
            fix="leave it out to start one process for each accelerator",
            severity=Severity.WARNING,
            source=_TORCHRUN,
        )


def max_restarts(count: object) -> Iterator[Finding]:
    """DT405: no number of restarts."""
    if not (isinstance(count, int) and _is_whole_number(count) and count >= 0):
        yield Finding(
            rule="DT405",
            prop="distribution.max_restarts",
            got=repr(count),
            allowed="a whole number of at least 0",
            fix="give how often torchrun may start the processes again",
            source=_TORCHRUN,
        )


def rdzv_backend(name: object) -> Iterator[Finding]:
    """DT406: a rendezvous that the launcher does not offer."""
    if name not in ("static", "c10d"):
        yield Finding(
            rule="DT406",
            prop="distribution.rdzv_backend",
            got=repr(name),
            allowed="'static' or 'c10d'",
            fix="leave it out to let the launcher choose",
            source=_TORCHRUN,
        )
