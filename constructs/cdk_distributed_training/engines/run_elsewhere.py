"""Leaves word in the assembly that a construct runs where this machine cannot follow, for `dtrain` to say so."""

from __future__ import annotations

from constructs import Construct

METADATA_TYPE = "cdk-distributed-training:run-elsewhere"
METADATA_SCHEMA = 1


def run_elsewhere(construct: Construct, *, runner: str, job: str | None = None) -> None:
    """Say at a construct who runs it.

    Args:
        construct: What `dtrain local` cannot run.
        runner: Who runs it instead, as a sentence without its end.
        job: Construct path of the job in it that can be run here; none unless given.
    """
    kind = type(construct).__name__
    construct.node.add_metadata(
        METADATA_TYPE, {"schema": METADATA_SCHEMA, "kind": kind, "runner": runner, "job": job or ""}
    )
