"""PyTorch on AWS Trainium."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules import distribution as rules
from cdk_distributed_training.checks.rules import launch_kinds, library_support
from cdk_distributed_training.distribution.distribution import Distribution
from cdk_distributed_training.request.instances import Instances

_AGENTS = ("torchrun", "processes")
_BACKENDS = ("xla", "neuron")
_PRECOMPILE = ("no", "only", "first")


@dataclass(frozen=True, kw_only=True)
class Xla(Distribution):
    """Start one process for each Neuron core, with the variables that AWS's Neuron libraries want.

    Source: https://awsdocs-neuron.readthedocs-hosted.com/en/latest/frameworks/torch/index.html

    Attributes:
        process_count_per_node: Processes on each machine; `auto` starts one for each logical Neuron core, which is 64
            on a Trn2 machine unless `NEURON_LOGICAL_NC_CONFIG` in the job's environment says otherwise.
        backend: `xla` is PyTorch/XLA; `neuron` is the native backend of Trn2 and Trn3.
        spmd: One process on each machine, which computes with all its Neuron cores, for scripts that split tensors over
            all cores of all machines: by torch_xla's `use_spmd()`, or by JAX, then with `agent="processes"`. All
            machines need the same number of cores. Needs `backend` `xla`.
        agent: `torchrun` starts the processes, or the launcher itself does (`processes`), which is quicker and never
            restarts them.
        max_restarts: How often torchrun starts all processes again after one has failed, before the job fails.
        compile_cache: Where compiled graphs are kept: a folder, best on a file system that the machines share, or
            `s3://bucket/prefix` with `xla`, for which the job needs `bucket.grant_read_write(job)`. Unless given,
            each machine keeps them for itself until the job ends.
        compile_cache_key: A folder in it; named by the versions of the installed Neuron packages unless given, and
            none if it is empty.
        precompile: Whether the script's graphs are compiled ahead, in parallel, from a run of the script that
            collects them: `only` instead of training, `first` before it; `no` unless given.
    """

    process_count_per_node: int | Literal["auto"] = "auto"
    backend: Literal["xla", "neuron"] = "xla"
    spmd: bool = False
    agent: Literal["torchrun", "processes"] = "torchrun"
    max_restarts: int = 0
    compile_cache: str | None = None
    compile_cache_key: str | None = None
    precompile: Literal["no", "only", "first"] = "no"

    def launcher_arguments(self) -> list[str | int]:
        """The launcher's kind `xla` and its options."""
        arguments: list[str | int] = ["xla", "--nproc-per-node", self.process_count_per_node]
        for option, value, default in (
            ("--backend", self.backend, "xla"),
            ("--agent", self.agent, "torchrun"),
            ("--max-restarts", self.max_restarts, 0),
            ("--compile-cache", self.compile_cache, None),
            ("--compile-cache-key", self.compile_cache_key, None),
            ("--precompile", self.precompile, "no"),
        ):
            if value != default and value is not None:
                arguments += [option, value]
        return [*arguments, "--spmd"] if self.spmd else arguments

    def findings(self, instances: Instances, *, known: Callable[[object], bool]) -> Iterator[Finding]:
        """Counts that are no counts, words that are none, options that exclude each other, machines without cores."""
        machine = instances.facts if known(instances.instance_type) else None
        if known(self.process_count_per_node):
            yield from rules.process_count_per_node(self.process_count_per_node, machine)
            if machine is not None and not self.spmd:
                yield from library_support.neuron_process_count(self.process_count_per_node, machine)
        if known(self.max_restarts):
            yield from rules.max_restarts(self.max_restarts)
        for prop, word, allowed in (
            ("backend", self.backend, _BACKENDS),
            ("agent", self.agent, _AGENTS),
            ("precompile", self.precompile, _PRECOMPILE),
        ):
            if known(word):
                yield from launch_kinds.choice(prop, word, allowed)
        cache = self.compile_cache
        yield from launch_kinds.neuron_options(
            backend=self.backend,
            agent=self.agent,
            spmd=self.spmd,
            processes=self.process_count_per_node if known(self.process_count_per_node) else "auto",
            precompile=self.precompile,
            restarts=known(self.max_restarts) and self.max_restarts != 0,
            cache_in_s3=cache is not None and known(cache) and cache.startswith("s3:"),
        )
        if machine:
            yield from launch_kinds.neuron_machine(self.backend, machine)
