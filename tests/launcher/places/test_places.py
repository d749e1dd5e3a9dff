"""Hosts that Slurm or a variable tells, where SageMaker has written no file."""

import json
import os
from pathlib import Path

import pytest

from training_launcher.cluster import read_cluster
from training_launcher.places.interfaces import interface_towards
from training_launcher.places.node_list import expand_node_list
from training_launcher.problems import Problem

LISTS = [
    ("x", ["x"]),
    ("ip-10-0-0-1,ip-10-0-0-2", ["ip-10-0-0-1", "ip-10-0-0-2"]),
    ("node[001-003,7],x", ["node001", "node002", "node003", "node7", "x"]),
    ("node[8-11]", ["node8", "node9", "node10", "node11"]),
    ("node[08-11]", ["node08", "node09", "node10", "node11"]),
    ("node[5]", ["node5"]),
    ("ip-10-1-[2-3]-[14,16]", ["ip-10-1-2-14", "ip-10-1-2-16", "ip-10-1-3-14", "ip-10-1-3-16"]),
    ("rack[1-2]-gpu.cluster.local", ["rack1-gpu.cluster.local", "rack2-gpu.cluster.local"]),
    ("a[1-2],b[3-4]", ["a1", "a2", "b3", "b4"]),
]

BROKEN = [
    "",
    ",",
    "a,",
    ",a",
    "a,,b",
    "a[",
    "a]",
    "a[]",
    "a[1-]",
    "a[-1]",
    "a[2-1]",
    "a[x]",
    "a[1,,2]",
    "a b",
    "a[1[2]]",
]


@pytest.mark.parametrize(("text", "names"), LISTS)
def test_a_list_of_nodes(text: str, names: list[str]) -> None:
    assert expand_node_list(text) == names


@pytest.mark.parametrize("text", BROKEN)
def test_no_list_of_nodes(text: str) -> None:
    with pytest.raises(Problem, match="Slurm"):
        expand_node_list(text)


def step(**changes: str | None) -> dict[str, str]:
    """Variables of a step of two nodes, seen on the second."""
    variables = {
        "SLURM_JOB_ID": "7",
        "SLURM_JOB_NUM_NODES": "3",
        "SLURM_JOB_NODELIST": "node[09-11]",
        "SLURM_STEP_NODELIST": "node[09-10]",
        "SLURM_STEP_NUM_TASKS": "2",
        "SLURM_NODEID": "1",
        "SLURMD_NODENAME": "node10",
    }
    return {name: value for name, value in {**variables, **changes}.items() if value is not None}


def test_a_step_of_slurm(tmp_path: Path) -> None:
    cluster = read_cluster(str(tmp_path), step())
    assert (cluster.hosts, cluster.current_host) == (("node09", "node10"), "node10")
    assert cluster.interface == ""
    assert read_cluster(str(tmp_path), step(SLURMD_NODENAME=None, SLURM_NODEID="0")).current_host == "node09"
    assert read_cluster(str(tmp_path), step(SLURM_STEP_NUM_TASKS=None)).hosts == ("node09", "node10")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"SLURM_STEP_NODELIST": None}, "srun --ntasks-per-node=1"),
        ({"SLURM_STEP_NUM_TASKS": "16"}, "16 tasks on 2 nodes"),
        ({"SLURM_STEP_NUM_TASKS": "two"}, "SLURM_STEP_NUM_TASKS must be a whole number"),
        ({"SLURMD_NODENAME": "other", "SLURM_NODEID": "2"}, "neither of which"),
        ({"SLURMD_NODENAME": None, "SLURM_NODEID": None}, "neither of which"),
        ({"SLURM_STEP_NODELIST": "node["}, "no list"),
    ],
)
def test_a_step_that_cannot_be(tmp_path: Path, changes: dict[str, str | None], message: str) -> None:
    with pytest.raises(Problem, match=message):
        read_cluster(str(tmp_path), step(**changes))


def test_an_allocation_of_one_node_needs_no_step(tmp_path: Path) -> None:
    alone = step(SLURM_STEP_NODELIST=None, SLURM_JOB_NUM_NODES="1")
    assert read_cluster(str(tmp_path), alone).hosts == (os.uname().nodename,)


def test_hosts_that_are_told(tmp_path: Path) -> None:
    own = os.uname().nodename
    told = {"TRAINING_HOSTS": json.dumps(["other-1.pods", f"{own}.pods"]), **step()}
    cluster = read_cluster(str(tmp_path), told)
    assert (cluster.hosts, cluster.current_host) == (tuple(sorted(("other-1.pods", f"{own}.pods"))), f"{own}.pods")
    assert read_cluster(str(tmp_path), {"TRAINING_HOSTS": json.dumps([own])}).hosts == (own,)


@pytest.mark.parametrize("text", ["node-1", "{}", "[]", "[1]", '[""]', '["other"]', '"text"'])
def test_hosts_that_cannot_be(tmp_path: Path, text: str) -> None:
    with pytest.raises(Problem, match="TRAINING_HOSTS"):
        read_cluster(str(tmp_path), {"TRAINING_HOSTS": text})


def test_the_file_comes_first(tmp_path: Path) -> None:
    (tmp_path / "resourceconfig.json").write_text('{"current_host": "algo-1", "hosts": ["algo-1"]}')
    assert read_cluster(str(tmp_path), {**step(), "TRAINING_HOSTS": '["other"]'}).hosts == ("algo-1",)


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "no address", "255.255.255.255"])
def test_no_interface_leads_to_other_hosts(address: str) -> None:
    assert interface_towards(address) == ""
