"""Rules about the SageMaker Python SDK's `distribution` (DT450 to DT456)."""

from __future__ import annotations

import difflib
import json
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cdk_distributed_training.checks.findings import Finding

_SDK = "https://sagemaker.readthedocs.io/en/v2.257.2/api/training/distributed.html"
_COMPILER = "https://docs.aws.amazon.com/sagemaker/latest/dg/training-compiler.html"

# what each key of version 2 may hold
_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "torch_distributed": ("enabled",),
    "pytorchddp": ("enabled", "custom_mpi_options"),
    "mpi": ("enabled", "processes_per_host", "custom_mpi_options"),
    "parameter_server": ("enabled",),
    "multi_worker_mirrored_strategy": ("enabled",),
    "smdistributed.dataparallel": ("enabled", "custom_mpi_options"),
    "smdistributed.modelparallel": ("enabled", "parameters"),
}
_NO_COMPILER = (
    "SageMaker's Training Compiler is discontinued, its last images hold PyTorch 1.13 and TensorFlow 2.11: on GPUs use "
    "Torchrun() and torch.compile in the script, on Trainium use Xla()"
)
# what is gone, and what replaces it
_DEAD = {"pytorchxla": _NO_COMPILER, "compiler_config": _NO_COMPILER, "training_compiler": _NO_COMPILER}
# what may be enabled together: the launcher, and the library that it starts
_PAIRS = (
    {"mpi", "smdistributed.modelparallel"},
    {"torch_distributed", "smdistributed.modelparallel"},
    {"torch_distributed", "smdistributed.dataparallel"},
    {"torch_distributed", "pytorchddp"},
)


def version_2_keys(given: Mapping[str, Any]) -> Iterator[Finding]:
    """DT450: a key or an option that the SDK does not have. DT451: one that nothing runs any more."""
    for name, options in _flat(given):
        if name in _DEAD:
            yield _finding("DT451", name, "a key of a discontinued feature", ", ".join(_OPTIONS), _DEAD[name])
        elif name not in _OPTIONS:
            near = difflib.get_close_matches(str(name), _OPTIONS, 1)
            fix = f"write {near[0]!r}" if near else "leave it out"
            yield _finding("DT450", name, "a key that the SDK does not have", ", ".join(_OPTIONS), fix)
        elif not isinstance(options, Mapping):
            yield _finding("DT450", name, repr(options), "a dictionary", "write {'enabled': True}")
        else:
            yield from _unknown(options, _OPTIONS[name], name)


def option_values(given: Mapping[str, Any]) -> Iterator[Finding]:
    """DT456: an option whose value is of a kind that the SDK cannot read."""
    groups = given.get("instance_groups", ())
    if isinstance(groups, str) or not isinstance(groups, Sequence):
        yield _finding("DT456", "instance_groups", repr(groups), "a list of groups or of their names", "write a list")
    for name, options in _flat(given):
        for option, value in options.items() if isinstance(options, Mapping) else ():
            for allowed, fix in _wrong_kind(option, value):
                yield _finding("DT456", f"{name}.{option}", repr(value), allowed, fix)


def _wrong_kind(option: str, value: Any) -> Iterator[tuple[str, str]]:
    """What would be right, and what to do, if a value is wrong."""
    if option == "enabled" and isinstance(value, str):
        yield "True or False", "take the quotes off: any text counts as true"
    if option == "parameters" and not isinstance(value, (Mapping, str, Path)):
        yield "a dictionary, or the path of a JSON file of one", "leave it out for the library's defaults"
    if option == "custom_mpi_options" and value is not None:
        try:
            shlex.split(value if isinstance(value, str) else "'")
        except ValueError:  # how it says that a quote has no end
            yield "text as for a shell, such as '-x NCCL_DEBUG=INFO'", "write one text, and close its quotes"


def version_3_keys(
    given: Mapping[str, Any],
    names: Sequence[str],
    smp: Mapping[str, Any] | None,
    smp_names: Sequence[str],
) -> Iterator[Finding]:
    """DT450: a field that the SDK's classes do not have.

    Args:
        given: Fields of `Torchrun` or `MPI`.
        names: The fields that they have.
        smp: Fields of `SMP`, or parameters of the library's version 2.
        smp_names: The fields that it has.
    """
    yield from _unknown(given, names, "")
    yield from _unknown(smp or {}, smp_names, "smp")
    if given.get("mpi_additional_options") is not None and smp is not None:
        yield _finding("DT452", "smp", "smp with mpi_additional_options", "one of them", "leave one of them out")


def combination(enabled: Collection[str]) -> Iterator[Finding]:
    """DT452: what cannot be enabled together. DT453: model parallelism that nobody starts."""
    if len(enabled) > 1 and set(enabled) not in _PAIRS:
        yield _finding(
            "DT452",
            " and ".join(enabled),
            "all of them enabled",
            "one, or the model parallel library with 'mpi' (version 1) or 'torch_distributed' (version 2)",
            "enable the one that the script is written for",
        )
    if list(enabled) == ["smdistributed.modelparallel"]:
        yield _finding(
            "DT453",
            "smdistributed.modelparallel",
            "the library without a launcher",
            "together with 'mpi' for its version 1, or 'torch_distributed' for its version 2",
            "add {'torch_distributed': {'enabled': True}} or {'mpi': {'enabled': True}}",
        )


def parameter_file(path: str | Path) -> Iterator[Finding]:
    """DT454: parameters of the model parallel library that are in no readable file."""
    file = Path(path)
    problem = ""
    if not file.is_file():
        problem = "which is not there"
    else:
        try:
            if not isinstance(json.loads(file.read_text(encoding="utf-8")), dict):
                problem = "which holds no JSON object"
        except ValueError as error:
            problem = f"which is not JSON: {error}"
    if problem:
        name = "smdistributed.modelparallel.parameters"
        yield _finding("DT454", name, f"{str(path)!r}, {problem}", "a dictionary, or a JSON file of one", "mend it")


def known_object(given: object, *, has_fields: bool) -> Iterator[Finding]:
    """DT455: neither a dictionary nor an object of the SDK's."""
    if not has_fields or type(given).__name__ not in ("Torchrun", "MPI", "SMP"):
        yield _finding(
            "DT455",
            "distribution",
            f"an object of {type(given).__name__}",
            "a dictionary, or Torchrun, MPI or SMP of the SDK's version 3",
            "write the command that it runs as Command(), which starts the script alone",
        )


def _flat(given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, options in given.items():
        if name == "smdistributed" and isinstance(options, Mapping):
            yield from ((f"{name}.{kind}", item) for kind, item in options.items())
        elif name != "instance_groups":
            yield name, options


def _unknown(given: Mapping[str, Any], names: Sequence[str], place: str) -> Iterator[Finding]:
    for name in given:
        if name not in names:
            near = difflib.get_close_matches(str(name), names, 1)
            fix = f"write {near[0]!r}" if near else "leave it out"
            prop = f"{place}.{name}" if place else str(name)
            yield _finding("DT450", prop, "a field that the SDK does not have", ", ".join(names), fix)


def _finding(rule: str, prop: str, got: str, allowed: str, fix: str) -> Finding:
    source = _COMPILER if rule == "DT451" else _SDK
    return Finding(rule=rule, prop=f"distribution[{prop}]", got=got, allowed=allowed, fix=fix, source=source)
