"""Where a host stands in its job."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from training_launcher.cluster import Cluster, parse_cluster, read_cluster
from training_launcher.control.channel import job_token
from training_launcher.places.batch import SOURCE, batch_node
from training_launcher.places.meeting import Meeting
from training_launcher.problems import Problem


class Place(NamedTuple):
    """Where this host stands: enough to reach the other hosts."""

    base_directory: str
    cluster: Cluster
    world: tuple[str, ...]
    addresses: Mapping[str, str]
    """Host name to address, where the job was told addresses; to the name itself otherwise."""
    addresses_told: bool
    job_name: str

    @property
    def host(self) -> str:
        """Name of this host."""
        return self.cluster.current_host

    @property
    def host_rank(self) -> int:
        """Place of this host in the world; only for hosts in it."""
        return self.world.index(self.host)

    @property
    def own_address(self) -> str:
        """Address to listen at; empty, for every address, unless addresses were told."""
        return self.addresses[self.host] if self.addresses_told else ""

    @property
    def working_directory(self) -> str:
        """Where the source code is unpacked and the script runs."""
        return os.path.join(self.base_directory, "code")

    @property
    def output_directory(self) -> str:
        """Where the failure file goes."""
        return os.path.join(self.base_directory, "output")


def find_place(
    base_directory: str,
    groups: Sequence[str],
    environment: Mapping[str, str],
    others: Sequence[str] = (),
    *,
    port: int = 0,
    seconds: float = 0.0,
) -> Place:
    """Read the hosts, and meet them where no file names them.

    Args:
        base_directory: What SageMaker calls ``/opt/ml``.
        groups: Names of the instance groups that take part; when empty, all but `others`.
        environment: As the container was started.
        others: Names of the instance groups that run a command of their own.
        port: Where hosts that do not know each other meet; 0 where they need not, as for printing a plan.
        seconds: How long they wait for each other.

    Raises:
        Problem: The files or variables that name them are wrong, or a host did not come.
    """
    config = os.path.join(base_directory, "input/config")
    node = batch_node(environment, config)
    if node:
        told = node.meet(Meeting(port, seconds, job_token(node.hosts, environment))) if port else {}
        cluster = parse_cluster(node.resource_config(told.get(node.host, "")), SOURCE)
    else:
        cluster = read_cluster(config, environment)
        told = _told_addresses(environment, cluster.hosts)
    return Place(
        base_directory=base_directory,
        cluster=cluster,
        world=cluster.world(groups, others),
        addresses=told or {host: host for host in cluster.hosts},
        addresses_told=bool(told),
        job_name=environment.get("TRAINING_JOB_NAME") or "training",
    )


def _told_addresses(environment: Mapping[str, str], hosts: Sequence[str]) -> Mapping[str, str]:
    """Addresses instead of names, where the hosts of a job share one machine and have no names there."""
    text = environment.get("TRAINING_HOST_ADDRESSES")
    if not text:
        return {}
    try:
        told = json.loads(text)
        return {host: str(told[host]) for host in hosts}
    except (ValueError, TypeError, KeyError) as error:
        raise Problem(
            f"TRAINING_HOST_ADDRESSES must be a JSON object with an address for each of "
            f"{', '.join(hosts)}, got {text!r}"
        ) from error
