"""The hosts of the job, from ``/opt/ml/input/config/resourceconfig.json``; elsewhere from the environment (`places`).

https://docs.aws.amazon.com/sagemaker/latest/dg/your-algorithms-training-algo-running-container.html
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from training_launcher.groups import world_of
from training_launcher.json_file import read_json_object
from training_launcher.places import place_from_environment
from training_launcher.problems import Problem

HOMOGENEOUS = "homogeneousCluster"
"""The group name that SageMaker gives when the job names no instance groups."""


class Group(NamedTuple):
    """An instance group: hosts of one instance type."""

    name: str
    instance_type: str
    hosts: tuple[str, ...]


class Cluster(NamedTuple):
    """The hosts of the job; equal on every host but for `current_host`.

    Hosts stand in natural order, ``algo-2`` before ``algo-10``, because the service lists them alphabetically
    and a rank must mean the same host to everyone.
    """

    current_host: str
    hosts: tuple[str, ...]
    groups: tuple[Group, ...]
    interface: str
    """Network interface that leads to the other hosts, such as ``eth0``; empty when unknown."""
    resource_config: Any
    """The file as it was read, for variables that carry it whole."""

    def group_of(self, host: str) -> Group:
        """The instance group of a host."""
        return next(group for group in self.groups if host in group.hosts)

    def world(self, groups: Sequence[str] = (), others: Sequence[str] = ()) -> tuple[str, ...]:
        """Hosts that take part in the distribution, the leader first.

        Args:
            groups: Names of the instance groups that take part; when empty, all but `others`.
            others: Names of those that run a command of their own.

        Raises:
            Problem: There is no such group, or none takes part.
        """
        chosen = world_of({group.name: group.hosts for group in self.groups}, groups, others)
        return tuple(host for host in self.hosts if host in chosen)


def natural_order(name: str) -> tuple[tuple[bool, int, str], ...]:
    """Sort key that reads digits as numbers.

    >>> sorted(["algo-10", "algo-2", "algo-1"], key=natural_order)
    ['algo-1', 'algo-2', 'algo-10']
    """
    parts = re.findall(r"\d+|\D+", name)
    return tuple((part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts)


def read_cluster(config_directory: str, environment: Mapping[str, str] | None = None) -> Cluster:
    """Read the job's hosts; a machine without the file, of which no variable says more, is a cluster of itself.

    Args:
        config_directory: Where the file lies.
        environment: As the launcher was started.

    Raises:
        Problem: The file or a variable is there and cannot be used.
    """
    path = os.path.join(config_directory, "resourceconfig.json")
    content = read_json_object(path)
    if content is None:
        told = place_from_environment(environment or {})
        if told is not None:
            return parse_cluster(told.content, told.variable)
        host = socket.gethostname()
        content = {"current_host": host, "hosts": [host]}
    return parse_cluster(content, path)


def parse_cluster(content: dict[str, Any], path: str) -> Cluster:
    """The cluster that a resource configuration describes; `path` is for messages only."""
    hosts, current = content.get("hosts"), content.get("current_host")
    if not isinstance(hosts, list) or not hosts or not all(isinstance(host, str) and host for host in hosts):
        raise Problem(f'{path}: "hosts" must be a list of host names, got {hosts!r}')
    if len(set(hosts)) != len(hosts):
        raise Problem(f'{path}: "hosts" names a host twice: {", ".join(hosts)}')
    if not isinstance(current, str) or current not in hosts:
        raise Problem(f'{path}: "current_host" is {current!r}, which is not one of the hosts {", ".join(hosts)}')
    ordered = tuple(sorted(hosts, key=natural_order))
    return Cluster(
        current_host=current,
        hosts=ordered,
        groups=_groups(content, ordered, path),
        interface=content.get("network_interface_name") or "",
        resource_config=content,
    )


def _groups(content: dict[str, Any], hosts: tuple[str, ...], path: str) -> tuple[Group, ...]:
    listed = content.get("instance_groups")
    if not listed:
        name = content.get("current_group_name") or HOMOGENEOUS
        return (Group(name, content.get("current_instance_type") or "", hosts),)
    try:
        groups = tuple(
            Group(
                group["instance_group_name"],
                group.get("instance_type") or "",
                tuple(sorted(group["hosts"], key=natural_order)),
            )
            for group in listed
        )
    except (TypeError, KeyError, AttributeError) as error:
        raise Problem(
            f'{path}: "instance_groups" must be a list of objects with instance_group_name and hosts, got {listed!r}'
        ) from error
    grouped = sorted((host for group in groups for host in group.hosts), key=natural_order)
    if grouped != list(hosts):
        raise Problem(f'{path}: "instance_groups" hold the hosts {grouped}, but "hosts" are {list(hosts)}')
    return groups
