"""What a host's run sees of the control channel, whether it leads or follows."""

from __future__ import annotations

import abc
import json
from collections.abc import Callable, Mapping, Sequence

from training_launcher.failure import Failure
from training_launcher.framing import Message


class Channel(abc.ABC):
    """Reports go to the leader; orders come back to `on_order`, on the leader's own host too."""

    def __init__(self, on_order: Callable[[Message], None]) -> None:
        self.on_order = on_order

    @abc.abstractmethod
    def open(self) -> None:
        """Begin to listen, or be ready to connect."""

    @abc.abstractmethod
    def report(self, message: Message) -> None:
        """Tell the leader something."""

    @abc.abstractmethod
    def leave(self, finished: Callable[[], None]) -> None:
        """End in good order, within a bound, and then call `finished`."""

    def resolved(self, addresses: Mapping[str, str]) -> None:  # noqa: B027  the leader need not know
        """Hosts whose names have been resolved, and their addresses."""

    def failed(self, failure: Failure) -> None:
        """Tell the leader of a failure."""
        self.report({"type": "failed", "failure": failure.to_message()})


def job_token(hosts: Sequence[str], environment: Mapping[str, str]) -> str:
    """A word that only hosts of the same run know, so that a stray connection is no host of ours.

    It keeps jobs apart by mistake, not attackers out: that is the security group's work.
    """
    import hashlib  # noqa: PLC0415  one host alone needs none

    names = [environment.get(name, "") for name in ("TRAINING_JOB_ARN", "TRAINING_JOB_NAME")]
    names += environment.get("AWS_BATCH_JOB_ID", "").split("#")[:1]  # behind it stands the node's index
    return hashlib.sha256(json.dumps([names, list(hosts)]).encode()).hexdigest()[:32]
