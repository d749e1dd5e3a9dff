"""What is made in one region and used in another."""

from __future__ import annotations

from collections.abc import Iterator

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules import network as rules
from cdk_distributed_training.network.interfaces import ITrainingNetwork
from cdk_distributed_training.tokens import known


def region_findings(network: ITrainingNetwork | None, *, region: str) -> Iterator[Finding]:
    """A network that this app makes in another region; of what was made elsewhere, nobody knows where.

    Args:
        network: The network of a job or a file system, if it was given one.
        region: The region of that.
    """
    made_in = getattr(network, "made_in_region", None)
    if made_in is not None and known([made_in, region]):
        yield from rules.same_region("network", there=made_in, here=region)
