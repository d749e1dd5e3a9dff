"""What a job's options demand of a machine, and running it without where this machine lacks it."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from cdk_distributed_training.local.errors import LocalModeError

_EFA = ("an EFA device", "sys/class/infiniband", "*")
_GPU = ("an NVIDIA GPU", "dev", "nvidia[0-9]*")
_NEURON = ("a Neuron device", "dev", "neuron[0-9]*")
_OF_COLLECTIVES = {"nccl": _GPU, "smddp": _GPU, "neuron": _NEURON, "xla": _NEURON}
_VARIABLE = "TRAINING_COLLECTIVES"


@dataclass(frozen=True, kw_only=True)
class Demand:
    """An option with which the job does not start on this machine.

    Attributes:
        option: As it stands in the request.
        needs: What the machine lacks.
    """

    option: str
    needs: str


def unmet_demands(request: Mapping[str, Any], *, root: Path = Path("/")) -> list[Demand]:
    """The launcher's options that ask for a device which this machine has not.

    Args:
        request: The request, with its intrinsics evaluated.
        root: Where the machine's files are.
    """
    return [
        Demand(option=option, needs=what)
        for option, (what, folder, pattern) in _demands(request)
        if not any((root / folder).glob(pattern))
    ]


def refuse_unmet(request: Mapping[str, Any], *, root: Path = Path("/")) -> None:
    """Refuse a job whose launcher would end at once for want of a device.

    Raises:
        LocalModeError: Names every such option.
    """
    unmet = unmet_demands(request, root=root)
    if unmet:
        lines = [f"the job has {demand.option}, and this machine lacks {demand.needs}" for demand in unmet]
        lines.append("--without-accelerators runs it with what this machine has; it does not go with --deploy")
        raise LocalModeError("\n".join(lines))


def without_unmet(request: Mapping[str, Any], *, root: Path = Path("/")) -> tuple[dict[str, Any], list[Demand]]:
    """The request without the options that this machine cannot serve, and which those are."""
    unmet = unmet_demands(request, root=root)
    changed = copy.deepcopy(dict(request))
    algorithm = changed["AlgorithmSpecification"]
    options, script = _split(algorithm.get("ContainerArguments", []))
    for demand in unmet:
        words = demand.option.split(" ")
        for start in range(len(options)):
            if options[start : start + len(words)] == words:
                del options[start : start + len(words)]
                break
        else:
            changed["Environment"].pop(_VARIABLE)
    if unmet:
        algorithm["ContainerArguments"] = [*options, *script]
    return changed, unmet


def _demands(request: Mapping[str, Any]) -> list[tuple[str, tuple[str, str, str]]]:
    options, _ = _split(request["AlgorithmSpecification"].get("ContainerArguments", []))
    demands = [("--require-efa", _EFA)] if "--require-efa" in options else []
    for option, backend in pairwise(options):
        if option == "--collectives" and backend in _OF_COLLECTIVES:
            demands.append((f"{option} {backend}", _OF_COLLECTIVES[backend]))
    backend = request.get("Environment", {}).get(_VARIABLE)
    if backend in _OF_COLLECTIVES:
        demands.append((f"{_VARIABLE}={backend} in its environment", _OF_COLLECTIVES[backend]))
    return demands


def _split(arguments: Sequence[Any]) -> tuple[list[str], list[str]]:
    """The launcher's own words, and those of the script from `--` on."""
    words = [str(word) for word in arguments]
    end = words.index("--") if "--" in words else len(words)
    return words[:end], words[end:]
