"""How many processes `--nproc-per-node auto` starts on the machines of a job, which are not this one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cdk_distributed_training.data.tables import instance_types

_OPTIONS = ("--nproc-per-node", "--nproc_per_node")
# physical Neuron cores that make one of those that a process opens, from Trainium2 on
_JOINED = {"ml.trn2": 2, "ml.trn3": 2}
_JOINED_VARIABLES = ("NEURON_LOGICAL_NC_CONFIG", "NEURON_RT_VIRTUAL_CORE_SIZE")


def automatic_processes(instance_type: str, environment: Mapping[str, Any]) -> int | None:
    """One process for each GPU or logical Neuron core, else one; None for a type of which nothing is known.

    Args:
        instance_type: SageMaker's name.
        environment: The job's environment, which may join Neuron cores.
    """
    facts = instance_types().get(instance_type)
    if facts is None:
        return None
    asked = next((str(environment[name]) for name in _JOINED_VARIABLES if name in environment), "")
    joined = int(asked) if asked.isdecimal() and int(asked) else _JOINED.get(instance_type[:7], 1)
    return facts.gpu_count or facts.neuron_cores // joined or 1


def counted_for(arguments: Sequence[str], instance_type: str, environment: Mapping[str, Any]) -> list[str]:
    """The launcher's arguments with the number in place of `auto`, as it would count on that machine."""
    words = list(arguments)
    count = automatic_processes(instance_type, environment)
    end = words.index("--") if "--" in words else len(words)
    for place in range(1, end):
        if words[place] == "auto" and words[place - 1] in _OPTIONS and count is not None:
            words[place] = str(count)
    return words
