"""The leader's part: knows how long each host has been silent, and decides when the job hangs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from training_launcher.failure import Failure
from training_launcher.framing import Message
from training_launcher.hang.stack import Frame, Stack
from training_launcher.hang.verdict import judge

ANSWER = 6.0
"""Seconds in which the hosts must say where their ranks stand; more than a host takes, see `examination.PATIENCE`."""


class HangWatch:
    """Watches over the silence of all hosts with ranks.

    Args:
        hosts: Hosts with ranks, the leader first.
        seconds: How long all of them may be silent.
        broadcast: Sends a message to every host.
        later: Calls back after some seconds.
        now: A clock that only runs forward.
        failed: Takes the verdict.
    """

    def __init__(
        self,
        *,
        hosts: Sequence[str],
        seconds: float,
        broadcast: Callable[[Message], None],
        later: Callable[[float, Callable[[], None]], Any],
        now: Callable[[], float],
        failed: Callable[[Failure], None],
    ) -> None:
        self._hosts, self._seconds = tuple(hosts), seconds
        self._broadcast, self._later, self._now, self._failed = broadcast, later, now, failed
        self._last_output = now()
        self._stacks: list[Stack] = []
        self._answered: set[str] = set()
        self._silence = 0.0
        self.examining = False
        """Whether the ranks have been asked where they stand: what fails from then on, fails because of that."""
        self._decided = False
        later(seconds, self._look)

    def receive(self, host: str, message: Message) -> None:
        """Take a host's report."""
        if message["type"] == "quiet":
            # an age, because the hosts' clocks may differ
            self._last_output = max(self._last_output, self._now() - float(message["seconds"]))
        elif message["type"] == "stacks" and self.examining:
            for one in message["ranks"]:
                frames = tuple(Frame(*frame) for frame in one["frames"])
                self._stacks.append(Stack(**{**one, "host": host, "frames": frames}))
            self._answered.add(host)
            if self._answered >= set(self._hosts):
                self._decide()

    def _look(self) -> None:
        self._silence = self._now() - self._last_output
        if self._silence < self._seconds:
            self._later(self._seconds - self._silence, self._look)
            return
        self.examining = True
        self._broadcast({"type": "stacks", "seconds": self._silence})
        self._later(ANSWER, self._decide)

    def _decide(self) -> None:
        if not self._decided:
            self._decided = True
            self._failed(judge(self._stacks, leader=self._hosts[0], seconds=self._silence))
