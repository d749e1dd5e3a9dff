"""Any command."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules import launch_kinds
from cdk_distributed_training.distribution.distribution import Distribution
from cdk_distributed_training.request.instances import Instances

_PLACES = ("every", "leader")


@dataclass(frozen=True, kw_only=True)
class Command(Distribution):
    """Run the script as it is, once on each machine or on the first machine only.

    It gets no framework's variables, and finds the other machines by `SM_HOSTS` and `SM_CURRENT_HOST_RANK`.

    Attributes:
        on: `every` machine, or the `leader` while the others wait and end with it; `every` unless given.
    """

    on: Literal["every", "leader"] = "every"

    def launcher_arguments(self) -> list[str | int]:
        """The launcher's kind `plain` and its option."""
        return ["plain"] if self.on == "every" else ["plain", "--on", self.on]

    def findings(self, instances: Instances, *, known: Callable[[object], bool]) -> Iterator[Finding]:
        """A place that is none."""
        del instances
        if known(self.on):
            yield from launch_kinds.choice("on", self.on, _PLACES)
