"""Everything about this host and job that is known before the hosts have met."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from training_launcher.collectives.choose import AUTO, Choice, choose
from training_launcher.collectives.facts import detect_facts
from training_launcher.command_line import Request
from training_launcher.cuda_compatibility import compatibility_variables, library_path
from training_launcher.devices import Devices, detect_devices
from training_launcher.entry import Entry
from training_launcher.environment import additions, network_variables, process_variables
from training_launcher.hyperparameters import read_hyperparameters, to_arguments
from training_launcher.json_file import read_json_object
from training_launcher.launchers.base import Launch, Situation
from training_launcher.place import Place
from training_launcher.plan import Command, LaunchPlan
from training_launcher.preflight.levels import effective_level
from training_launcher.problems import Problem
from training_launcher.run_directory import path_of
from training_launcher.sagemaker_variables import JobFacts, read_channels, sagemaker_variables
from training_launcher.secrets_mask import Mask

MASTER_PORT = 7777


class Preparation(NamedTuple):
    """What this host will do, but for what only all hosts together know."""

    request: Request
    place: Place
    devices: Devices
    collectives: Choice
    hyperparameters: Mapping[str, str]
    channels: Mapping[str, Any]
    run_directory: str
    environment: Mapping[str, str]

    @property
    def processes(self) -> int:
        """Ranks on this host."""
        place, request = self.place, self.request
        if place.host not in place.world or not request.launcher.has_ranks(request.options, place.host_rank):
            return 0
        return request.launcher.processes(request.options, self.devices)

    @property
    def entry(self) -> Entry | None:
        """What this host runs of the user's; None where it only waits."""
        if self.place.host in self.place.world:
            return self.request.entry
        return self.request.group_entries.get(self.place.cluster.group_of(self.place.host).name)

    @property
    def report(self) -> dict[str, Any]:
        """What the leader compares with the other hosts' reports."""
        return {
            "kind": self.request.launcher.name,
            "processes": self.processes,
            "hang_timeout": self.request.options.hang_timeout,
            "automatic": getattr(self.request.options, "nproc_per_node", "") == "auto",
            "devices": self.devices.described,
            "alike": self.request.launcher.alike(self.request.options),
            "instance_type": self.place.cluster.group_of(self.place.host).instance_type,
            "collectives": self.collectives.label if self.processes else "",
        }

    @property
    def preflight_level(self) -> str:
        """How much this host tries before the start."""
        place = self.place
        hosts = len(place.world) if place.host in place.world else 0
        return effective_level(self.request.options.preflight, hosts=hosts, efa=self.collectives.over_efa)

    @property
    def mask(self) -> Mask:
        """Hides this job's credentials."""
        return Mask(self.environment, self.hyperparameters)

    def plan(self, processes: Sequence[int], interface: str = "") -> LaunchPlan:
        """The plan for this host.

        Args:
            processes: Ranks of each host of the world, in its order.
            interface: Network interface that leads to the other hosts, where no file says it.
        """
        place, request = self.place, self.request
        cluster = place.cluster._replace(interface=place.cluster.interface or interface)
        arguments = to_arguments(self.hyperparameters, booleans=request.options.boolean_hyperparameters)
        situation = Situation(
            cluster=cluster,
            world=place.world,
            processes=tuple(processes),
            devices=self.devices,
            options=request.options,
            entry=request.entry,
            arguments=tuple(arguments),
            working_directory=place.working_directory,
            run_directory=self.run_directory,
            python=sys.executable or "python3",
            addresses=place.addresses,
            job_name=place.job_name,
            environment=self.environment,
            hyperparameters=self.hyperparameters,
        )
        takes_part = place.host in place.world
        launch = request.launcher.launch(situation) if takes_part else self._group_launch(situation.python)
        entry = self.entry or request.entry
        facts = JobFacts(
            base_directory=place.base_directory,
            cluster=cluster,
            world=place.world,
            devices=self.devices,
            hyperparameters=self.hyperparameters,
            channels=self.channels,
            arguments=[*entry.words[1:], *(arguments if takes_part else ())],
            entry=entry.words[1] if entry.words[0] == "-m" else entry.words[0],
            master_address=situation.leader_address,
            master_port=getattr(request.options, "master_port", None) or MASTER_PORT,
            environment=self.environment,
        )
        return LaunchPlan(
            kind=request.launcher.name,
            job_name=place.job_name,
            host=place.host,
            hosts=place.cluster.hosts,
            world=place.world,
            processes=processes[place.world.index(place.host)] if takes_part else 0,
            first_rank=situation.first_rank if takes_part else 0,
            world_size=situation.world_size,
            commands=launch.commands,
            environment=additions(
                self.environment,
                process_variables(self.environment, place.working_directory),
                library_path(self.environment),
                network_variables(cluster.interface, len(place.world)),
                self.collectives.environment,
                sagemaker_variables(facts),
                launch.environment,
                {"TRAINING_WORLD_SIZE": str(situation.world_size)},
            ),
            working_directory=place.working_directory,
            ports=launch.ports,
            restarts=launch.restarts,
            needs=launch.needs,
            awaits=launch.awaits,
            notes=(*self._collectives_notes, *launch.notes),
        )

    @property
    def _collectives_notes(self) -> tuple[str, ...]:
        if not self.processes:
            return ()
        return (self.collectives.line, *(f"warning: {warning}" for warning in self.collectives.warnings))

    def _group_launch(self, python: str) -> Launch:
        """What a host outside of the world runs."""
        if not self.entry:
            return Launch(())
        name = self.place.cluster.group_of(self.place.host).name
        return Launch(
            (Command(f"group {name}", self.entry.command(python, self.place.working_directory), service=True),)
        )


def prepare(request: Request, place: Place, environment: Mapping[str, str]) -> Preparation:
    """Read what the job is to do.

    Raises:
        Problem: A file of the job is wrong.
    """
    config = os.path.join(place.base_directory, "input/config")
    environment = {**environment, **compatibility_variables(environment)}
    devices = detect_devices(environment)
    preparation = Preparation(
        request=request,
        place=place,
        devices=devices,
        collectives=_choose(request, place, devices, environment),
        hyperparameters=request.launcher.hyperparameters(
            request.options, read_hyperparameters(config, request.options.hyperparameter_encoding)
        ),
        channels=read_channels(place.base_directory, read_json_object(os.path.join(config, "inputdataconfig.json"))),
        run_directory=path_of(place.host, environment.get("TMPDIR")),
        environment=environment,
    )
    _ = preparation.processes  # complains about a wrong number now, and not after the hosts have met
    return preparation


def _choose(request: Request, place: Place, devices: Devices, environment: Mapping[str, str]) -> Choice:
    facts = detect_facts(
        environment,
        devices,
        hosts=len(place.world),
        instance_type=place.cluster.group_of(place.host).instance_type,
    )
    # a plan may be printed on another machine, and only hosts with ranks need what they need
    required = request.options.require_efa and not request.options.dry_run and place.host in place.world
    wanted = request.options.collectives if place.host in place.world else AUTO
    try:
        return choose(facts, wanted, require_efa=required)
    except Problem:
        if not request.options.dry_run:
            raise
        return choose(facts)
