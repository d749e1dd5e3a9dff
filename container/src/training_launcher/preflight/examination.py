"""One host's part: looks at itself, answers the others and asks them, as the leader says."""

from __future__ import annotations

import importlib.util
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from training_launcher.children import Children
from training_launcher.control.channel import job_token
from training_launcher.framing import Message
from training_launcher.preflight.channels import channels_with_files
from training_launcher.preflight.doorbell import Doorbell
from training_launcher.preflight.interface import interface_problem
from training_launcher.preflight.knock import Answer, Door, Knocks
from training_launcher.preflight.levels import COLLECTIVES, EXIT_CODE, KIND
from training_launcher.preflight.network_verdict import summary_of
from training_launcher.preflight.paths import targets
from training_launcher.preflight.trial import Trial
from training_launcher.prepare import Preparation
from training_launcher.problems import Problem
from training_launcher.reactor import Reactor


class Examination:
    """The preflight on this host, from `begin`, before it counts as ready, to `close`.

    Args:
        reactor: The event loop.
        children: For the trial of the collectives.
        preparation: What this host will do.
        seconds: How long the trial of the collectives may take.
        asked: Whether the level was asked for, and is no default.
        report: Tells the leader something.
    """

    def __init__(
        self,
        reactor: Reactor,
        children: Children,
        preparation: Preparation,
        *,
        seconds: float,
        asked: bool,
        report: Callable[[Message], None],
    ) -> None:
        self._reactor, self._children, self._preparation = reactor, children, preparation
        self._seconds, self._asked, self._report = seconds, asked, report
        place = preparation.place
        self._token = job_token(place.cluster.hosts, preparation.environment)
        self._doorbell: Doorbell | None = None
        self._knocks: Knocks | None = None
        self._reserved: socket.socket | None = None

    def begin(self) -> dict[str, Any]:
        """Look at this host, and be ready for the others.

        Returns:
            This host's part of the report to the leader.

        Raises:
            Problem: This host alone is wrong already.
        """
        place, choice = self._preparation.place, self._preparation.collectives
        variable = choice.interface_variable
        problem = interface_problem(place.cluster.interface, variable, self._preparation.environment.get(variable, ""))
        if problem:
            raise Problem(f"{place.host}: {problem}", kind=KIND, exit_code=EXIT_CODE)
        self._doorbell = Doorbell(self._reactor, address=place.own_address, host=place.host, token=self._token)
        level = self._preparation.preflight_level
        if level == COLLECTIVES and place.host == place.world[0]:
            # held until it is needed, so that nothing else gets it
            self._reserved = socket.socket()
            self._reserved.bind((place.own_address, 0))
        return {
            "level": level,
            "asked": self._asked,
            "port": self._doorbell.port,
            "trial_port": self._reserved.getsockname()[1] if self._reserved else 0,
            "channels": channels_with_files(place.base_directory, self._preparation.channels),
            "torch": importlib.util.find_spec("torch") is not None if level == COLLECTIVES else False,
            "label": choice.label,
            "suspects": choice.suspects,
            "efa": choice.over_efa,
            "gigabits": choice.fabric_gigabits,
            "seconds": self._seconds,
        }

    def order(self, message: Message, addresses: Mapping[str, str]) -> None:
        """Do what the leader says."""
        if message["type"] == "check":
            self._check(message["ports"], addresses)
        else:
            self._try(message["processes"], message["port"])

    def _check(self, ports: Sequence[int], addresses: Mapping[str, str]) -> None:
        """Try the paths to other hosts; `ports` has one for each host of the world, in its order."""
        place = self._preparation.place
        port_of = dict(zip(place.world, ports))  # noqa: B905  Python 3.9 has no `strict`
        doors = [Door(host, addresses[host], port_of[host]) for host in targets(place.world, place.host)]
        self._knocks = Knocks(self._reactor, doors, self._token, self._checked)

    def _try(self, processes: Sequence[int], port: int) -> None:
        """Start throwaway ranks; rank 0 will listen on `port` of the leader."""
        if self._reserved:
            self._reserved.close()
            self._reserved = None
        plan = self._preparation.plan(processes)
        if not plan.processes:
            return
        place = self._preparation.place
        common = {
            **self._preparation.environment,
            **plan.environment,
            "WORLD_SIZE": str(plan.world_size),
            "LOCAL_WORLD_SIZE": str(plan.processes),
            "MASTER_ADDR": place.addresses[place.world[0]],
            "MASTER_PORT": str(port),
            "TRAINING_PREFLIGHT_SECONDS": f"{self._seconds:g}",
        }
        # which network NCCL takes is only to be had from its log
        debug = {} if "NCCL_DEBUG" in common else {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,NET"}
        Trial(
            self._reactor,
            self._children,
            host=place.host,
            python=sys.executable or "python3",
            directory=self._preparation.run_directory,
            environments=[
                {**common, **debug, "RANK": str(plan.first_rank + local), "LOCAL_RANK": str(local)}
                for local in range(plan.processes)
            ],
            first_rank=plan.first_rank,
            seconds=self._seconds,
            finished=lambda report: self._report({"type": "tried", "report": report}),
        )

    def close(self) -> None:
        """Neither answer nor ask any more; throwaway ranks end with all other processes."""
        if self._doorbell:
            self._doorbell.close()
        if self._knocks:
            self._knocks.close()
        if self._reserved:
            self._reserved.close()

    def _checked(self, answers: Sequence[Answer]) -> None:
        place = self._preparation.place
        self._report({"type": "checked", "summary": summary_of(answers, leader=place.host == place.world[0])})
