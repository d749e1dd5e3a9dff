"""Which groups take part, as options."""

import pytest

from training_launcher.cluster import parse_cluster
from training_launcher.command_line import parse_command_line
from training_launcher.problems import Problem

GROUPS = [
    {"instance_group_name": "a, b", "instance_type": "ml.c5.xlarge", "hosts": ["algo-10", "algo-2"]},
    {"instance_group_name": "gpu", "instance_type": "ml.p5.48xlarge", "hosts": ["algo-3", "algo-1"]},
]


def world(*words: str) -> tuple[str, ...]:
    request = parse_command_line(["plain", *words, "--", "train.py"], {})
    hosts = ["algo-1", "algo-10", "algo-2", "algo-3"]
    content = {"hosts": hosts, "current_host": "algo-2", "instance_groups": GROUPS}
    cluster = parse_cluster(content, "resourceconfig.json")
    return cluster.world(request.options.instance_groups, list(request.group_entries))


@pytest.mark.parametrize(
    ("words", "hosts"),
    [
        ((), ("algo-1", "algo-2", "algo-3", "algo-10")),
        (("--instance-group", "gpu"), ("algo-1", "algo-3")),
        (("--instance-group", "a, b"), ("algo-2", "algo-10")),
        (("--instance-group", "gpu", "--instance-group", "a, b"), ("algo-1", "algo-2", "algo-3", "algo-10")),
        (("--group-command", '["gpu", "serve"]'), ("algo-2", "algo-10")),
        (("--instance-group", "a, b", "--group-command", '["gpu", "serve"]'), ("algo-2", "algo-10")),
    ],
)
def test_the_world_in_rank_order(words: tuple[str, ...], hosts: tuple[str, ...]) -> None:
    assert world(*words) == hosts


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--instance-group", "cpu"), "--instance-group names 'cpu', but the job has the groups 'a, b', 'gpu'"),
        (("--group-command", '["cpu", "x"]'), "--group-command names 'cpu'"),
        (("--group-command", '["gpu", "x"]', "--group-command", '["gpu", "y"]'), "twice for the instance group 'gpu'"),
        (("--instance-group", "gpu", "--group-command", '["gpu", "x"]'), "cannot both take part"),
        (("--group-command", '["gpu", "x"]', "--group-command", '["a, b", "y"]'), "none is left for the script"),
        (("--group-command", "gpu serve.py"), "must be a JSON list of the group's name and its command"),
        (("--group-command", '["gpu"]'), "must be a JSON list"),
        (("--group-command", '["gpu", ""]'), "must be a JSON list"),
        (("--group-command", '["gpu", "-m"]'), "must be a JSON list"),
        (("--group-command", '["gpu", 1]'), "must be a JSON list"),
        (("--group-command", '{"gpu": "x"}'), "must be a JSON list"),
    ],
)
def test_what_makes_no_sense(words: tuple[str, ...], message: str) -> None:
    with pytest.raises(Problem, match=message.replace("(", r"\(")):
        world(*words)


def test_a_command_of_words_of_any_kind() -> None:
    request = parse_command_line(
        ["plain", "--group-command", '["gpu", "-m", "data.serve", "--", "a \\"b\\" ;"]', "--", "train.py"], {}
    )
    assert request.group_entries["gpu"].words == ("-m", "data.serve", "--", 'a "b" ;')
