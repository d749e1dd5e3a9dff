"""Rules about the launcher's kinds and their options (DT407 to DT409)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.data.tables import InstanceType

_NEURON = (
    "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/frameworks/torch/torch-neuronx/api-reference-guide/"
    "training/pytorch-neuron-parallel-compile.html"
)
_NATIVE = "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/torch/index.html"
_PORTS = "https://docs.pytorch.org/docs/stable/distributed.html#environment-variable-initialization"


def choice(prop: str, got: object, allowed: Sequence[str]) -> Iterator[Finding]:
    """DT407: a word that the launcher does not know."""
    if got not in allowed:
        yield Finding(
            rule="DT407",
            prop=f"distribution.{prop}",
            got=repr(got),
            allowed=" or ".join(repr(word) for word in allowed),
            fix=f"leave it out to take {allowed[0]!r}",
            source=_NATIVE,
        )


def master_port(port: object) -> Iterator[Finding]:
    """DT408: no port that a script may listen at."""
    if not isinstance(port, int) or isinstance(port, bool) or not 1024 <= port <= 65534:
        yield Finding(
            rule="DT408",
            prop="distribution.master_port",
            got=repr(port),
            allowed="a whole number from 1024 to 65534",
            fix="leave it out to take the launcher's",
            source=_PORTS,
        )


def neuron_machine(backend: str, machine: InstanceType) -> Iterator[Finding]:
    """DT409: a machine that cannot compute what it is to compute."""
    if not machine.neuron_cores:
        yield Finding(
            rule="DT409",
            prop="instances.instance_type",
            got=repr(machine.name),
            allowed="a type with Neuron cores, such as 'ml.trn1.32xlarge'",
            fix="take Torchrun() for GPUs; PyTorch/XLA would compute on the CPU, where its collectives do nothing",
            severity=Severity.WARNING,
            source=_NATIVE,
        )
    elif backend == "neuron" and machine.name.startswith(("ml.trn1", "ml.inf")):
        yield Finding(
            rule="DT409",
            prop="distribution.backend",
            got=f"'neuron' on {machine.name}",
            allowed="'xla', or 'neuron' on Trn2 and Trn3",
            fix="leave it out to take 'xla'",
            source=_NATIVE,
        )


def neuron_options(
    *,
    backend: str,
    agent: str,
    spmd: bool,
    processes: int | str,
    precompile: str,
    restarts: bool,
    cache_in_s3: bool,
) -> Iterator[Finding]:
    """DT407: options that exclude each other."""
    excluded = (
        (
            "spmd",
            spmd and backend == "neuron",
            "spmd with backend 'neuron'",
            "backend 'xla', which alone splits one program over the cores of all machines",
            "leave out backend or spmd",
        ),
        (
            "process_count_per_node",
            spmd and processes not in ("auto", 1),
            f"{processes!r} with spmd",
            "one process on each machine, which has all its cores",
            "leave out process_count_per_node or spmd",
        ),
        (
            "precompile",
            precompile != "no" and (backend, agent) != ("xla", "torchrun"),
            f"{precompile!r} with backend {backend!r} and agent {agent!r}",
            "backend 'xla' and agent 'torchrun', because neuron_parallel_compile wraps one command on each machine",
            "leave out agent and backend, or precompile",
        ),
        (
            "max_restarts",
            restarts and agent == "processes",
            "restarts with agent 'processes'",
            "agent 'torchrun', which alone restarts processes",
            "leave out agent or max_restarts",
        ),
        (
            "compile_cache",
            cache_in_s3 and backend == "neuron",
            "an S3 address with backend 'neuron'",
            "a folder, because the native backend's compiler cache knows no S3",
            "take a folder on FSx for Lustre, which all machines share",
        ),
    )
    for prop, wrong, got, allowed, fix in excluded:
        if wrong:
            yield Finding(rule="DT407", prop=f"distribution.{prop}", got=got, allowed=allowed, fix=fix, source=_NEURON)
