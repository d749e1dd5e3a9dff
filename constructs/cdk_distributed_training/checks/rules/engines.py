"""Rules about whatever runs a job: what it has a place for, its numbers, its statuses (DT720, DT723, DT735)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from cdk_distributed_training.checks.examples import given
from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rule import rule

_SUBMIT = "https://docs.aws.amazon.com/batch/latest/APIReference/API_SubmitServiceJob.html"
_TUNING = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_HyperParameterTrainingJobDefinition.html"
_EVENTS = "https://docs.aws.amazon.com/sagemaker/latest/dg/automating-sagemaker-with-eventbridge.html"


@rule(
    "DT720",
    title="A member of the request that an engine cannot express",
    why="The service would refuse the call, or run another job than the one that was asked for.",
    source=_TUNING,
    bad=given(engine="a tuning job", members={"InputDataConfig": True, "ProfilerConfig": False}, source=_TUNING),
    good=given(engine="a tuning job", members={"InputDataConfig": True}, source=_TUNING),
)
def expressible(engine: str, members: Mapping[str, bool], source: str) -> Iterator[Finding]:
    """DT720: members of the request that an engine has no place for.

    Args:
        engine: The engine, with an article.
        members: Members of the request, such as `ProfilerConfig`, and whether the engine has a place for them.
        source: Where the service says what it takes.
    """
    for member in sorted(name for name, possible in members.items() if not possible):
        yield Finding(
            rule="DT720",
            prop="job",
            got=f"{member} in the request of a job for {engine}",
            allowed=f"requests without it: {engine} has no place for it",
            fix="leave it out of the job, or start the job by its own state machine",
            source=source,
        )


@rule(
    "DT723",
    title="A number that the service does not take",
    why="The service refuses it when the stack is deployed or the job is started.",
    source=_SUBMIT,
    bad=given(prop="attempts", value=11, low=1, high=10, source=_SUBMIT),
    good=given(prop="attempts", value=10, low=1, high=10, source=_SUBMIT),
)
def in_range(prop: str, value: float, low: float, high: float, source: str, *, whole: bool = True) -> Iterator[Finding]:
    """DT723: a number out of its range, or with a fraction where it has none; bounds may be infinite, values not."""
    if not (math.isfinite(value) and low <= value <= high) or (whole and value != int(value)):
        numbers = "whole numbers" if whole else "numbers"
        bounds = [f"from {low:.15g}"] * math.isfinite(low) + [f"to {high:.15g}"] * math.isfinite(high)
        yield Finding(
            rule="DT723",
            prop=prop,
            got=f"{value:.15g}",
            allowed=" ".join([numbers, *bounds]) if bounds else f"finite {numbers}",
            fix="take one of these",
            source=source,
        )


@rule(
    "DT735",
    title="A status that the service which runs the job does not tell of",
    why="The rule would never match: no event comes, and nobody notices.",
    source=_EVENTS,
    bad=given(statuses=["Completed", "Stopping"], told=["InProgress", "Completed", "Failed", "Stopped"]),
    good=given(statuses=["Completed"], told=["InProgress", "Completed", "Failed", "Stopped"]),
)
def told_statuses(statuses: Sequence[str], told: Sequence[str]) -> Iterator[Finding]:
    """DT735: statuses in `on_state_change` of an engine, against those that its service has a word for."""
    for status in statuses:
        if status not in told:
            yield Finding(
                rule="DT735",
                prop="statuses",
                got=repr(status),
                allowed=", ".join(told),
                fix="leave it out: runs of this engine never tell it",
                source=_EVENTS,
            )
