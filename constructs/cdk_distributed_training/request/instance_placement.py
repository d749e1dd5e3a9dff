"""Which machines of a training plan a job takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from cdk_distributed_training.request.request_part import RequestPart, spelled


@dataclass(frozen=True, kw_only=True)
class PlacementSpecification(RequestPart):
    """A number of machines, from one UltraServer if it is named.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_PlacementSpecification.html

    Attributes:
        count: How many machines.
        ultra_server_id: Id of the UltraServer; any unless given.
    """

    count: int = field(metadata=spelled("InstanceCount"))
    ultra_server_id: str | None = field(default=None, metadata=spelled("UltraServerId"))


@dataclass(frozen=True, kw_only=True)
class InstancePlacement(RequestPart):
    """How the machines lie on UltraServers.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_InstancePlacementConfig.html

    Attributes:
        enable_multiple_jobs: Whether other jobs may use the same UltraServers; the service's default unless given.
        specifications: Which UltraServers give how many machines, at most 10.
    """

    enable_multiple_jobs: bool | None = field(default=None, metadata=spelled("EnableMultipleJobs"))
    specifications: Sequence[PlacementSpecification] = field(default=(), metadata=spelled("PlacementSpecifications"))
