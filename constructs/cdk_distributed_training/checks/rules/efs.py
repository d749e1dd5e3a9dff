"""Rules over EFS file systems, as values given to a construct. Pure functions; tokens never get here."""

from __future__ import annotations

from collections.abc import Iterator

from cdk_distributed_training.checks.findings import Finding


def throughput(mode: str, *, given: bool) -> Iterator[Finding]:
    """DT295: a throughput of one's own goes with the mode for it, and that mode with a throughput."""
    if given != (mode == "PROVISIONED"):
        yield Finding(
            rule="DT295",
            prop="provisioned_throughput",
            got=f"{'a value' if given else 'none'} with {mode}",
            allowed="a value with ThroughputMode.PROVISIONED, and none with any other mode",
            fix="leave it out, or choose that mode" if given else "give the throughput for each second",
            source="https://docs.aws.amazon.com/efs/latest/ug/API_CreateFileSystem.html",
        )
