"""The choice of collectives: a pure function of facts and request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from training_launcher.collectives.efa import NcclOverEfa
from training_launcher.collectives.facts import Facts
from training_launcher.collectives.gloo import Gloo
from training_launcher.collectives.neuron import Neuron, Xla
from training_launcher.collectives.smddp import Smddp
from training_launcher.collectives.tcp import NcclOverTcp
from training_launcher.collectives.way import Way
from training_launcher.problems import NOT_STARTED, Problem

WAYS: tuple[Way, ...] = (Smddp(), NcclOverEfa(), NcclOverTcp(), Neuron(), Xla(), Gloo())
"""Best first."""
AUTO = "auto"
BACKENDS = tuple(dict.fromkeys(way.backend for way in WAYS))
VARIABLE = "TRAINING_COLLECTIVES"
"""Where `training_launcher.torch`, and any script that likes, finds the choice."""


class Choice(NamedTuple):
    """What was chosen."""

    backend: str
    """As `torch.distributed` spells it."""
    label: str
    """The way in few words, such as ``nccl over EFA``."""
    reason: str
    environment: Mapping[str, str]
    """For the ranks, where the user has not set them."""
    warnings: tuple[str, ...]
    suspects: str
    """Where to look when hosts cannot reach each other this way."""
    interface_variable: str
    """The variable that names the way's network interface; empty when it has none."""
    over_efa: bool
    """Whether the hosts will meet over the Elastic Fabric Adapter."""
    fabric_gigabits: float
    """What the way's network devices carry together on this host, in Gbit/s, as they say; 0 when unknown."""

    @property
    def line(self) -> str:
        """For the log."""
        kept = ", ".join(f"{name}={value}" for name, value in self.environment.items() if name != VARIABLE)
        return f"collectives: {self.label} ({self.reason})" + (f"; sets {kept}" if kept else "")


def choose(facts: Facts, wanted: str = AUTO, *, require_efa: bool = False) -> Choice:
    """Take the best way that works here, or the best of the backend that was asked for.

    Args:
        facts: Machine and job.
        wanted: ``auto`` or a backend. With ``auto``, a backend in TRAINING_COLLECTIVES counts as asked for.
        require_efa: Refuse rather than go over TCP.

    Raises:
        Problem: What was asked for does not work here; the message says what is missing.
    """
    told = facts.environment.get(VARIABLE, "")
    if wanted == AUTO and told in BACKENDS:
        wanted = told
    if require_efa:
        _require_efa(facts)
    candidates = [way for way in WAYS if wanted in (AUTO, way.backend)]
    working = [way for way in candidates if not way.missing(facts)]
    if not working:
        raise Problem(
            f"--collectives {wanted} needs {' and '.join(candidates[-1].missing(facts))}, which this host lacks",
            kind="collectives",
            exit_code=NOT_STARTED,
        )
    unopposed = [way for way in working if not way.objection(facts)]
    # an objection speaks against taking it unasked, and there is always gloo
    way = (unopposed or working)[0]
    required = {"NCCL_NET": "AWS Libfabric"} if require_efa and way.backend == "nccl" and facts.several_hosts else {}
    environment = {**way.environment(facts), **required, VARIABLE: way.backend}
    asked = "" if wanted == AUTO else "asked for; "
    return Choice(
        backend=way.backend,
        label=way.label(facts),
        reason=asked + way.reason(facts),
        environment={
            name: value
            for name, value in environment.items()
            if name not in facts.environment or name == "LD_LIBRARY_PATH"
        },
        warnings=tuple(way.warnings(facts)),
        suspects=way.suspects,
        interface_variable=way.interface_variable,
        over_efa=facts.several_hosts and way.uses_efa(facts),
        fabric_gigabits=facts.fabric.gigabits if way.uses_efa(facts) else 0.0,
    )


def _require_efa(facts: Facts) -> None:
    # Neuron brings its own libfabric and needs no plug-in
    missing = facts.missing_for_efa if not facts.neuron_cores else facts.missing_for_efa[: not facts.fabric.efa]
    if missing:
        raise Problem(
            f"--require-efa: this host lacks {'; '.join(missing)}",
            kind="EFA missing",
            exit_code=NOT_STARTED,
        )
