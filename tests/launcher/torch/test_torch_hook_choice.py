"""Which communication hook fits a backend, a wish and the hosts."""

import pytest

from training_launcher.torch.errors import CommunicationHookError
from training_launcher.torch.hook_choice import check_wish, choose_hook, stays_flat
from training_launcher.torch.hosts import host_name, ranks_by_host


def wish(backend, compression=None, hierarchical=None, device_type="cpu"):
    check_wish(backend=backend, device_type=device_type, compression=compression, hierarchical=hierarchical)


@pytest.mark.parametrize(
    ("backend", "compression", "hierarchical"),
    [
        ("nccl", None, None),
        ("nccl", "fp16", None),
        ("nccl", "bf16", False),
        ("nccl", "powersgd", None),
        ("gloo", None, True),
        ("gloo", "fp16", True),
        ("gloo", "fp16", None),
        ("smddp", None, None),
        ("xla", None, False),
    ],
)
def test_carried(backend, compression, hierarchical):
    wish(backend, compression, hierarchical)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"backend": "gloo", "compression": "bf16"}, "raises there; use compression='fp16', or .* nccl on GPUs"),
        ({"backend": "gloo", "compression": "powersgd"}, "never ends there; use compression='fp16'"),
        ({"backend": "smddp", "compression": "fp16"}, "not known to work there; use compression=None"),
        ({"backend": "xla", "compression": "bf16"}, "does not go with backend xla"),
        ({"backend": "nccl", "compression": "fp8"}, "must be None or one of fp16, bf16, powersgd, got 'fp8'"),
        ({"backend": "nccl", "hierarchical": True}, "is for gloo only, .* nccl.*leave hierarchical out"),
        ({"backend": "gloo", "hierarchical": True, "device_type": "cuda"}, "needs parameters on the CPU"),
    ],
)
def test_refused(arguments, message):
    with pytest.raises(CommunicationHookError, match=message):
        wish(**arguments)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, ""),
        ({"hierarchical": True}, ""),
        ({"hierarchical": False}, "hierarchical=False"),
        ({"backend": "nccl", "device_type": "cuda"}, "nccl knows the hosts itself"),
        ({"device_type": "cuda"}, "parameters on cuda"),
        ({"whole_world": False}, "the model's process group has a part of the ranks only"),
    ],
)
def test_what_need_not_know_the_hosts(changes, reason):
    usual = {"backend": "gloo", "device_type": "cpu", "hierarchical": None, "whole_world": True}
    assert stays_flat(**{**usual, **changes}) == reason


@pytest.mark.parametrize(
    ("hosts", "hierarchical", "reason"),
    [
        ([[0, 1, 2, 3]], False, "all ranks are on one host"),
        ([[0], [1], [2]], False, "each of the 3 hosts has one rank"),
        ([[0, 1], [2, 3]], True, "2 hosts with 2 ranks each"),
        ([[0, 1, 2], [3]], True, "2 hosts with 1 to 3 ranks each"),
    ],
)
def test_hierarchy_where_it_saves_bytes(hosts, hierarchical, reason):
    choice = choose_hook(compression="fp16", hosts=hosts)
    assert (choice.compression, choice.hierarchical, choice.reason) == ("fp16", hierarchical, reason)


@pytest.mark.parametrize(
    ("names", "ranks", "hosts"),
    [
        (["a", "a", "b", "b"], [0, 1, 2, 3], [[0, 1], [2, 3]]),
        (["b", "a", "b", "a", "b"], [0, 1, 2, 3, 4], [[0, 2, 4], [1, 3]]),
        (["a", "b"], [5, 3], [[3], [5]]),
        (["a"], [0], [[0]]),
    ],
)
def test_ranks_by_host(names, ranks, hosts):
    assert ranks_by_host(names, ranks) == hosts


def test_host_name_is_that_of_the_job(monkeypatch):
    monkeypatch.setenv("SM_CURRENT_HOST", "algo-2")
    assert host_name() == "algo-2"
    monkeypatch.delenv("SM_CURRENT_HOST")
    monkeypatch.setattr("socket.gethostname", lambda: "machine")
    assert host_name() == "machine"
