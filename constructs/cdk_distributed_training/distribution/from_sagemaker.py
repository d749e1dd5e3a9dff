"""The SageMaker Python SDK's `distribution`, in its two versions, as this library's values."""

from __future__ import annotations

import dataclasses
import json
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from cdk_distributed_training.checks.findings import raise_errors
from cdk_distributed_training.checks.rules import sagemaker_distribution as rules
from cdk_distributed_training.distribution.command import Command
from cdk_distributed_training.distribution.distribution import Distribution
from cdk_distributed_training.distribution.mpi import MPI
from cdk_distributed_training.distribution.multi_worker_mirrored import MultiWorkerMirrored
from cdk_distributed_training.distribution.on_instance_groups import OnInstanceGroups
from cdk_distributed_training.distribution.parameter_server import ParameterServer
from cdk_distributed_training.distribution.pytorch_ddp import PyTorchDDP
from cdk_distributed_training.distribution.smdistributed_data_parallel import SMDistributedDataParallel
from cdk_distributed_training.distribution.smdistributed_model_parallel import SMDistributedModelParallel
from cdk_distributed_training.distribution.smp import SMP
from cdk_distributed_training.distribution.torchrun import Torchrun
from cdk_distributed_training.distribution.xla import Xla
from cdk_distributed_training.request.instances import Instances

_SMP_FIELDS = tuple(
    field.name for field in dataclasses.fields(SMP) if field.name not in {f.name for f in dataclasses.fields(Torchrun)}
)
_VERSION_3 = ("process_count_per_node", "smp", "mpi_additional_options")


def distribution_from_sagemaker(distribution: Any, *, instances: Instances | None = None) -> Distribution:
    """The distribution that the SageMaker Python SDK would have started.

    Takes the dictionary of its version 2, such as `{"torch_distributed": {"enabled": True}}`, with all keys and
    combinations that the SDK takes, and of version 3 the objects `Torchrun` and `MPI` or dictionaries of their fields.
    What is not enabled does not count; with nothing enabled the script runs once on each machine, as there.

    Sources: https://sagemaker.readthedocs.io/en/v2.257.2/api/training/distributed.html,
    https://sagemaker.readthedocs.io/en/stable/

    Args:
        distribution: What the SDK's estimator or trainer was given.
        instances: The job's machines: on Trainium `torch_distributed` becomes `Xla`, which sets up the Neuron runtime;
            `Torchrun` in any case unless given.

    Raises:
        ConfigurationError: A key is unknown, keys exclude each other, or nothing of the kind exists any more; the
            message says what to use instead.
    """
    given = {"smp": distribution} if type(distribution).__name__ == "SMP" else _dictionary(distribution)
    if any(key in given for key in _VERSION_3) or (not isinstance(distribution, Mapping) and not given):
        raise_errors(rules.version_3_keys(given, _VERSION_3, _smp_dictionary(given), _SMP_FIELDS))
        return _from_version_3(given, is_mpi=type(distribution).__name__ == "MPI")
    raise_errors([*rules.version_2_keys(given), *rules.option_values(given)])
    parameters = _model_parallel_parameters(given)
    raise_errors(rules.combination(_enabled(given)))
    if "torch_distributed" in _enabled(given) and parameters is not None:
        raise_errors(rules.version_3_keys({}, _VERSION_3, parameters, _SMP_FIELDS))
    found = _from_version_2(given, parameters, instances)
    groups = [_group_name(group) for group in given.get("instance_groups", ())]
    return OnInstanceGroups(distribution=found, groups=groups) if groups else found


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Wanted:
    """What a dictionary of version 2 asks for, beside the name of its launcher."""

    options: Mapping[str, Any]
    parameters: Mapping[str, Any] | None
    instances: Instances | None


def _mpi(wanted: _Wanted) -> Distribution:
    count = wanted.options.get("processes_per_host", 1)
    words = _options(wanted.options)
    if wanted.parameters is None:
        return MPI(process_count_per_node=count, mpi_additional_options=words)
    return SMDistributedModelParallel(
        process_count_per_node=count, mpi_additional_options=words, parameters=wanted.parameters
    )


def _torch_distributed(wanted: _Wanted) -> Distribution:
    if wanted.parameters is not None:
        return SMP(**wanted.parameters)
    facts = None if wanted.instances is None else wanted.instances.facts
    return Xla() if facts is not None and facts.neuron_cores else Torchrun()


# in the order in which SageMaker's own toolkit decides
_MAKERS: Mapping[str, Callable[[_Wanted], Distribution]] = {
    "mpi": _mpi,
    "pytorchddp": lambda wanted: PyTorchDDP(mpi_additional_options=_options(wanted.options)),
    "torch_distributed": _torch_distributed,
    "smdistributed.dataparallel": lambda wanted: SMDistributedDataParallel(
        mpi_additional_options=_options(wanted.options)
    ),
    "parameter_server": lambda _: ParameterServer(chief_task="master", servers="tensorflow"),
    "multi_worker_mirrored_strategy": lambda _: MultiWorkerMirrored(),
}


def _from_version_2(
    given: Mapping[str, Any], parameters: Mapping[str, Any] | None, instances: Instances | None
) -> Distribution:
    enabled = _enabled(given)
    options = dict(_flat(given))
    for name, make in _MAKERS.items():
        if name in enabled:
            return make(_Wanted(options=options[name], parameters=parameters, instances=instances))
    return Command()


def _from_version_3(given: Mapping[str, Any], *, is_mpi: bool) -> Distribution:
    count = given.get("process_count_per_node")
    processes: int | Literal["auto"] = "auto" if count is None else count
    if is_mpi or given.get("mpi_additional_options") is not None:
        return MPI(process_count_per_node=processes, mpi_additional_options=given.get("mpi_additional_options") or ())
    smp = _smp_dictionary(given)
    if smp is not None:
        return SMP(process_count_per_node=processes, **smp)
    return Torchrun(process_count_per_node=processes)


def _enabled(given: Mapping[str, Any]) -> list[str]:
    """Names of what is turned on, those of `smdistributed` with a dot."""
    return [name for name, options in _flat(given) if isinstance(options, Mapping) and options.get("enabled")]


def _flat(given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, options in given.items():
        if name == "smdistributed" and isinstance(options, Mapping):
            yield from ((f"{name}.{kind}", item) for kind, item in options.items())
        elif name != "instance_groups":
            yield name, options


def _model_parallel_parameters(given: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The model parallel library's parameters, from the dictionary or from the JSON file that it names."""
    if "smdistributed.modelparallel" not in _enabled(given):
        return None
    parameters = given["smdistributed"]["modelparallel"].get("parameters", {})
    if isinstance(parameters, (str, Path)):
        raise_errors(rules.parameter_file(parameters))
        parameters = json.loads(Path(parameters).read_text(encoding="utf-8"))
    return dict(parameters)


def _options(given: Mapping[str, Any]) -> Sequence[str]:
    """Mpirun's options as words; `--NCCL_DEBUG` is the SDK's own word for a variable."""
    words = shlex.split(given.get("custom_mpi_options") or "")
    options: list[str] = []
    while words:
        word = words.pop(0)
        name, equals, value = word.partition("=")
        if name == "--NCCL_DEBUG":
            options += ["-x", f"NCCL_DEBUG={value if equals else (words.pop(0) if words else 'INFO')}"]
        else:
            options.append(word)
    return options


def _dictionary(given: Any) -> Mapping[str, Any]:
    """A mapping as it is; of an object of the SDK's version 3 the fields that are set."""
    if isinstance(given, Mapping):
        return given
    fields = given.model_dump() if hasattr(given, "model_dump") else {}
    raise_errors(rules.known_object(given, has_fields=hasattr(given, "model_dump")))
    return {name: value for name, value in fields.items() if value is not None}


def _smp_dictionary(given: Mapping[str, Any]) -> Mapping[str, Any] | None:
    smp = given.get("smp")
    if smp is None:
        return None
    return {name: value for name, value in _dictionary(smp).items() if value is not None}


def _group_name(group: Any) -> str:
    """The name of a group, from the SDK's object or given itself."""
    return str(getattr(group, "instance_group_name", group))
