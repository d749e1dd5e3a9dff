"""What AWS runs and this machine cannot: queues, tuning, schedules and so on around a job, and serverless jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cdk_distributed_training.local.synthesized_stack import SynthesizedStack


@dataclass(frozen=True, kw_only=True)
class JobElsewhere:
    """A construct that AWS runs; most have a job in them, which runs here in their place.

    Attributes:
        path: The construct's path.
        kind: The construct's class.
        runner: Who runs it, as a sentence without its end.
        job: Path of what it runs: a job, or another of these; None if there is nothing that could run here.
        stack: The stack in which it is defined.
        hyperparameters: What it overrides of the job; may hold CloudFormation intrinsics.
        instance_count: Number of machines that it gives to the job; None for the job's own.
        ranges: Hyperparameters that it chooses itself, by kind of range, as the API has them.
        state_machine: Logical id of the state machine that runs it on the emulation of AWS; None if that cannot.
        request: The CreateTrainingJob request, where there is no job.
    """

    path: str
    kind: str
    runner: str
    job: str | None
    stack: SynthesizedStack = field(repr=False)
    hyperparameters: Mapping[str, Any] = field(default_factory=dict)
    instance_count: Any = None
    ranges: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    state_machine: str | None = None
    request: Mapping[str, Any] | None = None

    @property
    def what(self) -> str:
        """What it is, as a sentence without its end."""
        return f"{self.path} is a {self.kind}: {self.runner}"

    @property
    def tuned(self) -> dict[str, Mapping[str, Any]]:
        """Hyperparameter -> its range, where it chooses hyperparameters."""
        return {chosen["Name"]: chosen for kind in self.ranges.values() for chosen in kind}


def first_of(chosen: Mapping[str, Any]) -> Any:
    """A range's lowest or first value, with which a trial can run."""
    return chosen["MinValue"] if "MinValue" in chosen else chosen["Values"][0]


def in_words(chosen: Mapping[str, Any]) -> str:
    """A range, to be read."""
    if "MinValue" in chosen:
        return f"from {chosen['MinValue']} to {chosen['MaxValue']}"
    return f"of {', '.join(map(str, chosen['Values']))}"
