"""What makes one trial of a tuning job better than another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TuningObjective:
    """A metric that is as small or as large as can be.

    Attributes:
        metric: Name of one of the job's `metric_definitions`.
        maximize: Whether more is better; less is better unless given.
    """

    metric: str
    maximize: bool = False

    def render(self) -> dict[str, Any]:
        """The objective as the API has it."""
        return {"Type": "Maximize" if self.maximize else "Minimize", "MetricName": self.metric}
