"""Hosts of a Slurm job step: one launcher on each node, started by ``srun --ntasks-per-node=1``.

https://slurm.schedmd.com/srun.html#SECTION_OUTPUT-ENVIRONMENT-VARIABLES
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from training_launcher.places.node_list import expand_node_list
from training_launcher.problems import Problem

VARIABLE = "SLURM_STEP_NODELIST"


def resource_config(environment: Mapping[str, str]) -> dict[str, Any] | None:
    """The place; None outside of Slurm, and in an allocation of one node that no step was started in.

    The step's nodes count, not the job's: after a node was replaced they differ.

    Raises:
        Problem: The launcher was not started by srun, or more than once on a node.
    """
    listed = environment.get(VARIABLE)
    if not listed:
        if int(_number(environment, "SLURM_JOB_NUM_NODES", "1")) > 1:
            raise Problem(
                "the launcher runs on one node of a Slurm job only: start it on each by "
                "`srun --ntasks-per-node=1`, also inside of sbatch and salloc"
            )
        return None
    hosts = expand_node_list(listed)
    tasks = _number(environment, "SLURM_STEP_NUM_TASKS", str(len(hosts)))
    if int(tasks) != len(hosts):
        raise Problem(
            f"srun started {tasks} tasks on {len(hosts)} nodes: the launcher starts the ranks itself, so it needs "
            "one task on each (`--ntasks-per-node=1`)"
        )
    return {"current_host": _own(environment, hosts), "hosts": hosts}


def _own(environment: Mapping[str, str], hosts: list[str]) -> str:
    """The node's own name in the list; slurmd tells it, and SLURM_NODEID is its place there."""
    name = environment.get("SLURMD_NODENAME", "")
    if name in hosts:
        return name
    place = int(_number(environment, "SLURM_NODEID", "-1"))
    if not 0 <= place < len(hosts):
        raise Problem(
            f"SLURMD_NODENAME is {name!r} and SLURM_NODEID {place}, neither of which is one of the step's nodes "
            f"{', '.join(hosts)}"
        )
    return hosts[place]


def _number(environment: Mapping[str, str], variable: str, default: str) -> str:
    text = environment.get(variable) or default
    if not text.lstrip("-").isdecimal():
        raise Problem(f"{variable} must be a whole number, got {text!r}")
    return text
