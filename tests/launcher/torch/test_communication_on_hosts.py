"""The helpers for PyTorch, in four ranks on two real hosts with 200 Mbit/s links; one run, many looks at it.

Bytes are counted and not seconds: they are what the links between hosts cost, whatever else this machine does.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cdk_distributed_training.local.hosts import NamespaceHosts

HERE = Path(__file__).parent
SOURCES = HERE.parents[2] / "container" / "src"
HOSTS, RANKS_PER_HOST = 2, 2
WORLD_SIZE = HOSTS * RANKS_PER_HOST
GRADIENT_BYTES = 16 << 20
FLAT_BYTES = 2 * GRADIENT_BYTES * (WORLD_SIZE - 1) / WORLD_SIZE
HIERARCHICAL_BYTES = 2 * GRADIENT_BYTES * (HOSTS - 1) / HOSTS


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    """What each rank wrote, by rank."""
    environment = {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": f"{SOURCES}:{HERE / 'fake_packages'}",
        "GLOO_SOCKET_IFNAME": "eth0",
        "MASTER_ADDR": "algo-1",
        "MASTER_PORT": "29500",
        "WORLD_SIZE": str(WORLD_SIZE),
        "LOCAL_WORLD_SIZE": str(RANKS_PER_HOST),
        "OMP_NUM_THREADS": "1",
    }
    argv = [sys.executable, str(HERE / "start_ranks.py"), str(HERE / "communication_rank.py")]
    names = [f"algo-{number + 1}" for number in range(HOSTS)]
    with NamespaceHosts(names, tmp_path_factory.mktemp("hosts"), "torch-helpers") as hosts:
        for host in names:
            hosts.shape(host, "200mbit")
        processes = {
            host: hosts.start(host, argv, {**environment, "FIRST_RANK": str(index * RANKS_PER_HOST)})
            for index, host in enumerate(names)
        }
        try:
            output = {host: process.communicate(timeout=240)[0].decode() for host, process in processes.items()}
        except subprocess.TimeoutExpired:
            hosts.close()
            pytest.fail("\n".join(process.communicate()[0].decode() for process in processes.values()))
        assert {host: process.returncode for host, process in processes.items()} == dict.fromkeys(names, 0), output
        files = sorted(path for host in names for path in (hosts.opt_ml(host) / "model").iterdir())
        return [json.loads(path.read_text()) for path in files]


def seen(ranks, key):
    """What all ranks saw, if they saw the same."""
    values = {json.dumps(rank[key]) for rank in ranks}
    assert len(values) == 1, f"the ranks differ: {values}"
    return json.loads(values.pop())


def test_without_a_wish_gloo_is_taken_on_the_cpu(ranks):
    assert len(ranks) == WORLD_SIZE
    assert (seen(ranks, "backend"), seen(ranks, "device")) == ("gloo", "cpu")


def test_a_backend_that_silently_does_nothing_is_refused_and_its_group_destroyed(ranks):
    message = seen(ranks, "silent-backend")
    assert message.startswith("ProcessGroupError: backend xla is not connected")
    assert "each of 4 ranks gave 1" in message
    assert seen(ranks, "group-after-refusal") is False


def test_a_group_of_another_size_than_planned_is_refused(ranks):
    for number, rank in enumerate(ranks):
        assert f"sees rank {number} of 4 where the environment says rank {number} of 8" in rank["too-small"]


def test_a_second_default_group_is_refused(ranks):
    assert "a default process group already" in seen(ranks, "second-group")


@pytest.mark.parametrize(
    ("hook", "theory"),
    [
        ("flat", FLAT_BYTES),
        ("fp16", FLAT_BYTES / 2),
        ("hierarchical", HIERARCHICAL_BYTES),
        ("hierarchical-fp16", HIERARCHICAL_BYTES / 2),
    ],
)
def test_bytes_between_the_hosts_are_what_theory_says(ranks, hook, theory):
    for rank in ranks:
        assert rank[hook]["bytes"] == pytest.approx(theory, rel=0.01)


@pytest.mark.parametrize("hook", ["flat", "fp16", "hierarchical", "hierarchical-fp16"])
def test_parameters_are_equal_to_the_bit_on_all_ranks(ranks, hook):
    assert len({rank[hook]["digest"] for rank in ranks}) == 1


@pytest.mark.parametrize(("hook", "tolerance"), [("hierarchical", 1e-6), ("fp16", 1e-3), ("hierarchical-fp16", 1e-3)])
def test_parameters_are_those_of_the_flat_all_reduce(ranks, hook, tolerance):
    for rank in ranks:
        assert rank[hook]["difference"] < tolerance


def test_hierarchy_is_the_default_where_hosts_have_several_ranks(ranks):
    for rank in ranks:
        assert rank["hierarchical"]["hierarchical"] is True
        assert rank["hierarchical"]["reason"] == "2 hosts with 2 ranks each"
        assert rank["flat"]["hierarchical"] is False


def test_hosts_may_have_different_numbers_of_ranks(ranks):
    uneven = [rank["uneven"] for rank in ranks if "uneven" in rank]
    assert [result["hierarchical"] for result in uneven] == [True] * 3
    assert len({result["digest"] for result in uneven}) == 1
    assert all(result["difference"] < 1e-6 for result in uneven)


def test_a_model_on_a_part_of_the_ranks_stays_flat(ranks):
    assert seen(ranks, "own-host") == {
        "hierarchical": False,
        "reason": "the model's process group has a part of the ranks only",
    }


@pytest.mark.parametrize(("compression", "why"), [("bf16", "raises there"), ("powersgd", "never ends there")])
def test_hooks_that_gloo_does_not_carry_are_refused_with_a_way_out(ranks, compression, why):
    message = seen(ranks, f"refused-{compression}")
    assert message.startswith("CommunicationHookError")
    assert why in message
    assert "use compression='fp16'" in message


def test_an_error_between_the_hosts_reaches_the_backward_pass(ranks):
    for rank in ranks:
        assert "argument 'other' (position 1) must be Tensor, not str" in rank["failing-stage"]
