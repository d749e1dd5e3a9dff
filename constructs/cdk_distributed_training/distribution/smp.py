"""SageMaker's model parallel library, version 2."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import ClassVar

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules import library_support
from cdk_distributed_training.checks.rules import model_parallel as model_parallel_rules
from cdk_distributed_training.distribution.model_parallel_parameters import parameter_arguments
from cdk_distributed_training.distribution.torchrun import Torchrun
from cdk_distributed_training.request.instances import Instances

_OF_TORCHRUN = {field.name for field in fields(Torchrun)}


@dataclass(frozen=True, kw_only=True)
class SMP(Torchrun):
    """Start a script that uses `torch.sagemaker` with `torchrun`, with the library's parameters.

    Scripts find the parameters as `SM_HP_MP_PARAMETERS` and as the argument `--mp_parameters`. Each one is the
    library's own default unless given.
    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/distributed-model-parallel-v2-reference.html

    Attributes:
        process_count_per_node: As for `Torchrun`.
        max_restarts: As for `Torchrun`.
        rdzv_backend: As for `Torchrun`.
        hybrid_shard_degree: Processes over which parameters are sharded; 0 lets FSDP shard over all.
        sm_activation_offloading: Whether the library's own activation offloading is used.
        activation_loading_horizon: How many activations ahead are loaded back, at least 1.
        fsdp_cache_flush_warnings: Whether cache flushes of the CUDA allocator are reported.
        allow_empty_shards: Whether a process may hold an empty shard of a tensor.
        tensor_parallel_degree: Processes over which tensors are split, at least 1.
        context_parallel_degree: Processes over which sequences are split, at least 1 and at most the shard degree.
        expert_parallel_degree: Processes over which experts are spread, at least 1.
        random_seed: Seed for the random numbers of tensor parallel layers.
    """

    needs_model_parallel_image: ClassVar[bool] = True

    hybrid_shard_degree: int | None = None
    sm_activation_offloading: bool | None = None
    activation_loading_horizon: int | None = None
    fsdp_cache_flush_warnings: bool | None = None
    allow_empty_shards: bool | None = None
    tensor_parallel_degree: int | None = None
    context_parallel_degree: int | None = None
    expert_parallel_degree: int | None = None
    random_seed: int | None = None

    @property
    def parameters(self) -> Mapping[str, int | bool]:
        """The library's parameters that are given."""
        names = [field.name for field in fields(self) if field.name not in _OF_TORCHRUN]
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def launcher_arguments(self) -> list[str | int]:
        """The launcher's kind `smp`, torchrun's options and the parameters."""
        return ["smp", *super().launcher_arguments()[1:], *parameter_arguments(self.parameters)]

    def findings(self, instances: Instances, *, known: Callable[[object], bool]) -> Iterator[Finding]:
        """What `Torchrun` finds, and parameters that are out of range or do not fit together."""
        yield from super().findings(instances, known=known)
        types = [name for name in instances.types if known(name)]
        yield from library_support.library_on_machines("smp", types)
        yield from model_parallel_rules.version_2_parameters(
            {name: value for name, value in self.parameters.items() if known(value)}
        )
