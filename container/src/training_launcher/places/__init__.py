"""Where a host stands if it is no host of SageMaker's: one file for each system that may start the launcher there.

A place is what ``resourceconfig.json`` would say. That file comes first wherever it is, so that a job of SageMaker's is
never taken for another's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from training_launcher.places import slurm, told


class ToldPlace(NamedTuple):
    """A place, and the variable that told it, for messages."""

    content: dict[str, Any]
    variable: str


_SYSTEMS = (told, slurm)
"""The first that recognizes its variables is taken: what a user tells comes before what a system does."""


def place_from_environment(environment: Mapping[str, str]) -> ToldPlace | None:
    """What the environment says of the hosts; None where it says nothing.

    Raises:
        Problem: It says something that cannot be.
    """
    for system in _SYSTEMS:
        content = system.resource_config(environment)
        if content is not None:
            return ToldPlace(content, system.VARIABLE)
    return None
