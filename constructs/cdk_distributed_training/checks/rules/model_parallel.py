"""Rules about the parameters of SageMaker's model parallel library (DT43x)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from cdk_distributed_training.checks.findings import Finding

_VERSION_2 = "https://docs.aws.amazon.com/sagemaker/latest/dg/distributed-model-parallel-v2-reference.html"
_VERSION_1 = "https://github.com/aws/sagemaker-python-sdk/blob/v2.192.1/doc/api/training/smd_model_parallel_general.rst"

_SWITCHES_2 = ("sm_activation_offloading", "fsdp_cache_flush_warnings", "allow_empty_shards")
_LEAST_2 = {
    "hybrid_shard_degree": 0,
    "activation_loading_horizon": 1,
    "tensor_parallel_degree": 1,
    "context_parallel_degree": 1,
    "expert_parallel_degree": 1,
    "random_seed": 0,
}
_SWITCHES_1 = ("auto_partition", "contiguous", "load_partition", "horovod", "ddp", "deterministic_server")
_LEAST_1 = {"microbatches": 1, "partitions": 1, "active_microbatches": 1, "ddp_port": 0, "default_partition": 0}
_CHOICES_1 = {
    "pipeline": ("simple", "interleaved", "_only_forward"),
    "placement_strategy": ("spread", "cluster"),
    "optimize": ("speed", "memory"),
}


def version_2_parameters(parameters: Mapping[str, object]) -> Iterator[Finding]:
    """DT430: a value of the wrong kind or out of range. DT431: sequences split over more than a shard group."""
    yield from _values(parameters, _SWITCHES_2, _LEAST_2, prop="distribution", source=_VERSION_2)
    shard, context = parameters.get("hybrid_shard_degree"), parameters.get("context_parallel_degree")
    if isinstance(shard, int) and isinstance(context, int) and 0 < shard < context:
        yield Finding(
            rule="DT431",
            prop="distribution.context_parallel_degree",
            got=str(context),
            allowed=f"at most hybrid_shard_degree, which is {shard}",
            fix="raise hybrid_shard_degree or lower context_parallel_degree",
            source=_VERSION_2,
        )


def version_1_parameters(parameters: Mapping[str, object]) -> Iterator[Finding]:
    """DT430: a value of the wrong kind or out of range. DT432: parameters that exclude or need each other."""
    prop = "distribution.parameters"
    yield from _values(parameters, _SWITCHES_1, _LEAST_1, prop=prop, source=_VERSION_1)
    for name, choices in _CHOICES_1.items():
        if name in parameters and parameters[name] not in choices:
            allowed = "one of " + ", ".join(map(repr, choices))
            yield _wrong(f"{prop}.{name}", parameters[name], allowed, _VERSION_1)
    weight = parameters.get("memory_weight", 0)
    if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 <= weight <= 1:
        yield _wrong(f"{prop}.memory_weight", weight, "a number from 0 to 1", _VERSION_1)
    ddp = parameters.get("ddp") is True
    conflicts = (
        (ddp and parameters.get("horovod") is True, "ddp and horovod", "leave out one of ddp and horovod"),
        ("ddp_port" in parameters and not ddp, "ddp_port without ddp", "set ddp to True"),
        ("ddp_dist_backend" in parameters and not ddp, "ddp_dist_backend without ddp", "set ddp to True"),
        (
            parameters.get("auto_partition") is False and "default_partition" not in parameters,
            "auto_partition=False without default_partition",
            "give default_partition, the partition of layers that the script does not place",
        ),
    )
    for wrong, got, fix in conflicts:
        if wrong:
            yield Finding(
                rule="DT432", prop=prop, got=got, allowed="parameters that fit together", fix=fix, source=_VERSION_1
            )


def _values(
    parameters: Mapping[str, object],
    switches: Collection[str],
    least: Mapping[str, int],
    *,
    prop: str,
    source: str,
) -> Iterator[Finding]:
    for name, value in parameters.items():
        if name in switches and not isinstance(value, bool):
            yield _wrong(f"{prop}.{name}", value, "True or False", source)
        whole = isinstance(value, int) and not isinstance(value, bool)
        if name in least and not (whole and int(str(value)) >= least[name]):
            yield _wrong(f"{prop}.{name}", value, f"a whole number of at least {least[name]}", source)


def _wrong(prop: str, value: object, allowed: str, source: str) -> Finding:
    return Finding(
        rule="DT430",
        prop=prop,
        got=repr(value),
        allowed=allowed,
        fix="give such a value, or leave it out for the library's default",
        source=source,
    )
