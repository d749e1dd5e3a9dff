"""The hosts of a multi-node parallel job of AWS Batch, which says where a node stands in variables and not in a file.

A child node knows the main node's address and nobody knows the children's, so that the main node gathers them before
all else, on the control port, and tells them to all. From then on the job is like any other whose addresses were told.

https://docs.aws.amazon.com/batch/latest/userguide/mnp-env-vars.html
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from training_launcher.places.interfaces import interface_of
from training_launcher.places.meeting import Meeting, ask, gather
from training_launcher.places.told import VARIABLE as TOLD
from training_launcher.problems import Problem

SOURCE = "AWS Batch's variables"
_INDEX, _MAIN = "AWS_BATCH_JOB_NODE_INDEX", "AWS_BATCH_JOB_MAIN_NODE_INDEX"
_NODES, _ADDRESS = "AWS_BATCH_JOB_NUM_NODES", "AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS"


class BatchNode(NamedTuple):
    """Where a node stands, as Batch says it."""

    node: int
    main: int
    nodes: int
    main_address: str
    """Empty on the main node itself."""
    instance_type: str

    @property
    def host(self) -> str:
        """The node's name, as SageMaker would call it: ``algo-1`` is the main node."""
        return f"algo-{self._number + 1}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """All names, the main node's first."""
        return tuple(f"algo-{number + 1}" for number in range(self.nodes))

    @property
    def _number(self) -> int:
        return (self.node - self.main) % self.nodes

    def meet(self, meeting: Meeting) -> Mapping[str, str]:
        """Every node's address, by its name.

        Raises:
            Problem: A node did not come in time, or the job was stopped meanwhile.
        """
        if self.nodes == 1:
            return {self.host: "127.0.0.1"}
        if self._number == 0:
            return gather(self.hosts, meeting)
        return ask(self.host, self.hosts, self.main_address, meeting)

    def resource_config(self, address: str = "") -> dict[str, Any]:
        """The hosts of the job, as SageMaker's file would describe them.

        Args:
            address: This node's own address; empty while it is unknown.
        """
        return {
            "current_host": self.host,
            "hosts": list(self.hosts),
            "network_interface_name": interface_of(address),
            "current_instance_type": self.instance_type,
        }


def batch_node(environment: Mapping[str, str], config_directory: str) -> BatchNode | None:
    """The node that this container is; None without Batch, and where a file or the user names the hosts.

    Args:
        environment: As the container was started.
        config_directory: Where SageMaker's file would be.

    Raises:
        Problem: The variables contradict each other.
    """
    if (
        _INDEX not in environment
        or environment.get(TOLD)
        or os.path.exists(os.path.join(config_directory, "resourceconfig.json"))
    ):
        return None
    try:
        index, nodes = int(environment[_INDEX]), int(environment.get(_NODES, ""))
        main = int(environment.get(_MAIN, "0"))
    except ValueError:
        index = nodes = main = -1
    address = environment.get(_ADDRESS, "")
    if not (0 <= index < nodes and 0 <= main < nodes and (address or index == main)):
        names = (_INDEX, _MAIN, _NODES, _ADDRESS)
        given = ", ".join(f"{name}={environment.get(name, '')}" for name in names)
        raise Problem(
            f"{SOURCE} do not name a node of a multi-node parallel job: {given}. AWS Batch sets them; is one "
            "overridden in the job definition?"
        )
    return BatchNode(index, main, nodes, address, environment.get("TRAINING_INSTANCE_TYPE", ""))
