"""Leaves word in the assembly that a construct runs where this machine cannot follow, for `dtrain` to say so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from constructs import Construct

METADATA_TYPE = "cdk-distributed-training:run-elsewhere"
METADATA_SCHEMA = 1


def run_elsewhere(
    construct: Construct,
    *,
    runner: str,
    job: object = None,
    hyperparameters: Mapping[str, Any] | None = None,
    instance_count: float | None = None,
    ranges: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    state_machine_arn: str | None = None,
    request: Mapping[str, Any] | None = None,
) -> None:
    """Say at a construct who runs it.

    Args:
        construct: What `dtrain local` cannot run as it is.
        runner: Who runs it instead, as a sentence without its end.
        job: The construct in it that runs in its place here; none unless given. Anything else counts for nothing.
        hyperparameters: What it overrides of the job.
        instance_count: Number of machines that it gives to the job; the job's own unless given.
        ranges: Hyperparameters that it chooses itself, by kind of range, as the API has them.
        state_machine_arn: The state machine of which each execution is one run, where the emulation of AWS can run it;
            none unless given.
        request: The `CreateTrainingJob` request, where there is no job; to be shown.
    """
    told = {
        "schema": METADATA_SCHEMA,
        "kind": type(construct).__name__,
        "runner": runner,
        "job": job.node.path if isinstance(job, Construct) else "",
        "hyperparameters": dict(hyperparameters or {}),
        "instance_count": instance_count,
        "ranges": ranges,
        "state_machine": state_machine_arn,
        "request": request,
    }
    construct.node.add_metadata(METADATA_TYPE, {name: value for name, value in told.items() if value is not None})
