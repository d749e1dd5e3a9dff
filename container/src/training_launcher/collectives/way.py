"""What a way of carrying collectives answers. A new one is one file beside this with a subclass, named in `choose`."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import ClassVar, Mapping

from training_launcher.collectives.facts import Facts


class Way(abc.ABC):
    """A backend of torch together with what carries it between hosts. Stateless."""

    backend: ClassVar[str]
    """As `torch.distributed` and ``--collectives`` spell it."""
    suspects: ClassVar[str]
    """Where to look when hosts cannot reach each other this way."""

    interface_variable: ClassVar[str] = ""
    """The variable that names its network interface, where it has one."""

    @abc.abstractmethod
    def label(self, facts: Facts) -> str:
        """The way in few words, such as ``nccl over EFA``."""

    def uses_efa(self, facts: Facts) -> bool:
        """Whether the hosts meet over the Elastic Fabric Adapter."""
        return False

    @abc.abstractmethod
    def missing(self, facts: Facts) -> Sequence[str]:
        """What this machine lacks for it; nothing when it works here."""

    def objection(self, facts: Facts) -> str:
        """Why it is not taken unless it is asked for; empty when nothing speaks against it."""
        return ""

    @abc.abstractmethod
    def reason(self, facts: Facts) -> str:
        """What was found that makes it work here."""

    def environment(self, facts: Facts) -> Mapping[str, str]:
        """Variables that it needs on this machine with these versions; as few as possible."""
        return {}

    def warnings(self, facts: Facts) -> Sequence[str]:
        """What the user has set that works against it."""
        return ()


def several(count: int, what: str) -> str:
    """``1 GPU``, ``8 GPUs``."""
    return f"{count} {what}{'s' * (count != 1)}"
