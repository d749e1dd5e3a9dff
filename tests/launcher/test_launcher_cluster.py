"""Hosts from resourceconfig.json."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from training_launcher.cluster import parse_cluster, read_cluster
from training_launcher.problems import Problem

TWELVE = tuple(f"algo-{number}" for number in range(1, 13))


def cluster_of(hosts: list[str], current: str, **members: Any) -> Any:
    return parse_cluster({"hosts": hosts, "current_host": current, **members}, "resourceconfig.json")


def test_natural_order_whatever_the_order_given() -> None:
    """The service lists alphabetically: algo-1, algo-10, algo-11, algo-12, algo-2."""
    assert cluster_of(sorted(TWELVE), "algo-2").hosts == TWELVE
    shuffled = list(TWELVE)
    random.Random(7).shuffle(shuffled)
    assert cluster_of(shuffled, "algo-2").hosts == TWELVE


def test_thousands_of_hosts_rank_the_same_everywhere() -> None:
    names = [f"algo-{number}" for number in range(1, 2049)]
    for seed in range(3):
        shuffled = list(names)
        random.Random(seed).shuffle(shuffled)
        assert cluster_of(shuffled, "algo-77").hosts == tuple(names)


def test_a_homogeneous_cluster_is_one_group() -> None:
    cluster = cluster_of(["algo-2", "algo-1"], "algo-1", current_instance_type="ml.p5.48xlarge")
    assert [(group.name, group.instance_type, group.hosts) for group in cluster.groups] == [
        ("homogeneousCluster", "ml.p5.48xlarge", ("algo-1", "algo-2"))
    ]
    assert cluster.world() == ("algo-1", "algo-2")


GROUPS = [
    {"instance_group_name": "cpu", "instance_type": "ml.c5.xlarge", "hosts": ["algo-1"]},
    {"instance_group_name": "gpu", "instance_type": "ml.p4d.24xlarge", "hosts": ["algo-3", "algo-2"]},
]


def test_the_world_is_of_the_groups_that_take_part() -> None:
    cluster = cluster_of(["algo-1", "algo-2", "algo-3"], "algo-3", instance_groups=GROUPS)
    assert cluster.world(["gpu"]) == ("algo-2", "algo-3")
    assert cluster.world(["gpu", "cpu"]) == cluster.world() == ("algo-1", "algo-2", "algo-3")
    assert cluster.group_of("algo-3").instance_type == "ml.p4d.24xlarge"
    with pytest.raises(Problem, match="names 'tpu', but the job has the groups 'cpu', 'gpu'"):
        cluster.world(["tpu"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, '"hosts" must be a list of host names, got None'),
        ({"hosts": []}, "must be a list of host names"),
        ({"hosts": "algo-1"}, "must be a list of host names, got 'algo-1'"),
        ({"hosts": ["algo-1", "algo-1"], "current_host": "algo-1"}, "names a host twice"),
        ({"hosts": ["algo-1"], "current_host": "algo-2"}, "is 'algo-2', which is not one of the hosts algo-1"),
        ({"hosts": ["algo-1"]}, "is None, which is not one of the hosts"),
        ({"hosts": ["algo-1"], "current_host": "algo-1", "instance_groups": [{}]}, '"instance_groups" must be a list'),
        (
            {"hosts": ["algo-1"], "current_host": "algo-1", "instance_groups": GROUPS},
            '"instance_groups" hold the hosts',
        ),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path: Path, content: object, message: str) -> None:
    (tmp_path / "resourceconfig.json").write_text(json.dumps(content))
    with pytest.raises(Problem) as raised:
        read_cluster(str(tmp_path))
    assert message in raised.value.message
    assert str(tmp_path / "resourceconfig.json") in raised.value.message


@pytest.mark.parametrize(("text", "message"), [("{", "is not valid JSON"), ("[]", "must hold a JSON object, got list")])
def test_what_is_no_json_object_is_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "resourceconfig.json").write_text(text)
    with pytest.raises(Problem, match=message):
        read_cluster(str(tmp_path))


def test_a_machine_without_the_file_is_a_cluster_of_itself(tmp_path: Path) -> None:
    cluster = read_cluster(str(tmp_path))
    assert cluster.hosts == (cluster.current_host,)
