"""The leader's part: lets all hosts try, judges what they found, and says when the ranks may start."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from training_launcher.failure import Failure
from training_launcher.framing import Message
from training_launcher.preflight.channels import lacking
from training_launcher.preflight.levels import COLLECTIVES, EXIT_CODE, KIND, OFF
from training_launcher.preflight.network_verdict import judge_network
from training_launcher.preflight.trial_verdict import Tried, judge_trial

_OTHERS = 4.0
"""Seconds between the first host's bad news of a trial and the verdict: the cause may lie with another."""


class Director:
    """Takes the hosts through the steps.

    Args:
        world: Hosts that run ranks, the leader first.
        reports: What each host said when it was ready, with the part ``preflight`` where it takes part.
        processes: Ranks of each host of the world.
        broadcast: Sends a message to every host, this one included.
        later: Calls back after some seconds.
        now: A clock that only runs forward, in seconds.
        passed: Called once with lines to say when the ranks may start.
        failed: Called once when they may not.
    """

    def __init__(
        self,
        *,
        world: Sequence[str],
        reports: Mapping[str, Mapping[str, Any]],
        processes: Sequence[int],
        broadcast: Callable[[Message], None],
        later: Callable[[float, Callable[[], None]], Any],
        now: Callable[[], float],
        passed: Callable[[Sequence[str]], None],
        failed: Callable[[Failure], None],
    ) -> None:
        self._world, self._processes = tuple(world), tuple(processes)
        self._parts = {host: reports[host].get("preflight") or {} for host in world}
        self._broadcast, self._passed, self._failed = broadcast, passed, failed
        self._later, self._now, self._began = later, now, now()
        self._summaries: dict[str, Mapping[str, Any]] = {}
        self._tried: dict[str, Mapping[str, Any]] = {}
        self._said: list[str] = []
        self._over = False

    def begin(self) -> None:
        """Start with what the hosts have said already."""
        if self._own.get("level", OFF) == OFF or not all(self._parts.values()):
            self._pass()
            return
        filled = {host: part["channels"] for host, part in self._parts.items()}
        for channel, without, having in lacking(self._world, filled):
            self._fail(
                Failure(
                    KIND,
                    without,
                    EXIT_CODE,
                    f"channel {channel} is empty on {without}, but not on {having}: a prefix that is sharded by key "
                    "needs at least as many objects as hosts, and a file system the same folder on all",
                )
            )
            return
        self._broadcast({"type": "check", "ports": [part["port"] for part in self._parts.values()]})

    def receive(self, host: str, message: Message) -> None:
        """Take a host's answer to the step."""
        if self._over or host not in self._parts:
            return
        if message["type"] == "checked":
            self._summaries[host] = message["summary"]
            if len(self._summaries) == len(self._world):
                self._judge_network()
        elif message["type"] == "tried":
            self._tried[host] = message["report"]
            if message["report"]["bad"] and len(self._tried) < len(self._trying):
                self._later(_OTHERS, self._judge_trial)
            elif len(self._tried) == len(self._trying):
                self._judge_trial()

    @property
    def _own(self) -> Mapping[str, Any]:
        return self._parts[self._world[0]]

    @property
    def _trying(self) -> list[str]:
        return [host for host, count in zip(self._world, self._processes) if count]  # noqa: B905

    def _judge_network(self) -> None:
        verdict = judge_network(self._world, self._summaries, seconds=self._now() - self._began)
        if isinstance(verdict, Failure):
            self._fail(verdict)
            return
        self._said += verdict
        if self._own["level"] != COLLECTIVES:
            self._pass()
            return
        without = [host for host in self._trying if not self._parts[host]["torch"]]
        if not without:
            self._said.append(
                f"preflight: trying {self._own['label']} in throwaway processes, for at most {self._own['seconds']:g} s"
            )
            said, self._said = self._said, []
            processes = list(self._processes)
            self._broadcast({"type": "try", "port": self._own["trial_port"], "processes": processes, "notes": said})
        elif self._own["asked"]:
            self._fail(
                Failure(KIND, without[0], EXIT_CODE, f"--preflight collectives needs torch, and {without[0]} has none")
            )
        else:
            self._said.append(f"preflight: collectives are not tried, since {without[0]} has no torch")
            self._pass()

    def _judge_trial(self) -> None:
        if self._over:
            return
        verdict = judge_trial(
            Tried(
                world=self._world,
                processes=self._processes,
                reports=self._tried,
                label=self._own["label"],
                suspects=self._own["suspects"],
                efa=self._own["efa"],
                gigabits=self._own["gigabits"],
                seconds=self._own["seconds"],
            )
        )
        if isinstance(verdict, Failure):
            self._fail(verdict)
        else:
            self._said += verdict
            self._pass()

    def _pass(self) -> None:
        self._over = True
        self._passed(self._said)

    def _fail(self, failure: Failure) -> None:
        self._over = True
        self._failed(failure)
