"""What schedules, tuning jobs and their like change of a job before it runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cdk_distributed_training.local.job_elsewhere import JobElsewhere, first_of, in_words
from cdk_distributed_training.local.resolve import Resolver
from cdk_distributed_training.local.synthesized_stack import SynthesizedStack


@dataclass(frozen=True, kw_only=True)
class Overrides:
    """Changes of a job.

    Attributes:
        hyperparameters: Values that are added to the job's or replace them.
        instance_count: Another number of hosts; None for the job's own.
        notes: What was chosen here in place of AWS, for the person who reads.
    """

    hyperparameters: Mapping[str, Any]
    instance_count: int | None
    notes: tuple[str, ...]


def overrides_on_the_way(
    way: Sequence[JobElsewhere], *, own: Mapping[str, Any], given: Collection[str], stacks: Sequence[SynthesizedStack]
) -> Overrides:
    """Put together what stands between a construct path and its job; the outermost has the last word.

    A hyperparameter that tuning would choose keeps the job's own value, else it gets the first of its range.

    Args:
        way: What stands between, outermost first.
        own: The job's own hyperparameters.
        given: Names of the hyperparameters that the person sets.
        stacks: All stacks of the app.
    """
    hyperparameters: dict[str, Any] = {}
    instance_count = None
    notes = []
    for one in reversed(way):
        resolve = Resolver(one.stack, [stack for stack in stacks if stack is not one.stack])
        for name, chosen in one.tuned.items():
            if name in given:
                continue
            ranged = resolve(chosen)
            if name not in own:
                hyperparameters[name] = first_of(ranged)
            value = f"the job's own {own[name]}" if name in own else hyperparameters[name]
            another = f"--hyperparameter {name}=VALUE for another"
            notes.append(f"tuning chooses {name} {in_words(ranged)}; here it is {value}: {another}")
        hyperparameters.update(resolve(dict(one.hyperparameters)))
        if one.instance_count is not None:
            instance_count = int(float(resolve(one.instance_count)))
    return Overrides(hyperparameters=hyperparameters, instance_count=instance_count, notes=tuple(notes))
