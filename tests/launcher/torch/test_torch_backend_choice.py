"""Which backend a script gets, from facts about its machine and environment."""

import pytest

from training_launcher.torch.backends import Facts, choose_backend, installed_packages
from training_launcher.torch.errors import ProcessGroupError


def choice(requested=None, *, told=None, cuda_devices=0, packages=()):
    environment = {} if told is None else {"TRAINING_COLLECTIVES": told}
    return choose_backend(Facts(environment, cuda_devices, frozenset(packages)), requested)


@pytest.mark.parametrize(
    ("facts", "specification", "device_type"),
    [
        ({}, "gloo", "cpu"),
        ({"cuda_devices": 8}, "nccl", "cuda"),
        ({"told": "gloo", "cuda_devices": 8}, "gloo", "cpu"),
        ({"told": "nccl", "cuda_devices": 8}, "nccl", "cuda"),
        ({"told": "smddp", "cuda_devices": 8, "packages": ["smdistributed"]}, "smddp", "cuda"),
        ({"told": "xla", "packages": ["torch_xla"]}, "xla", "xla"),
        ({"told": "neuron", "packages": ["torch_neuronx"]}, "neuron", "neuron"),
        ({"told": "nccl", "requested": "gloo"}, "gloo", "cpu"),
        ({"told": "", "cuda_devices": 1}, "nccl", "cuda"),
        ({"requested": "cpu:gloo,cuda:nccl", "cuda_devices": 8}, "cpu:gloo,cuda:nccl", "cuda"),
        ({"packages": ["torch_xla", "torch_neuronx"]}, "gloo", "cpu"),
    ],
)
def test_choice(facts, specification, device_type):
    taken = choice(**facts)
    assert (taken.specification, taken.backend.device_type) == (specification, device_type)


def test_reason_says_where_the_choice_comes_from():
    assert choice("gloo").reason == "the script asks for it"
    assert choice(told="gloo").reason == "TRAINING_COLLECTIVES says so"
    assert choice(cuda_devices=2).reason == "torch sees 2 GPU(s)"
    assert choice().reason == "torch sees no GPU"
    assert "torch_neuronx would be used with" in choice(packages=["torch_neuronx"]).reason


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"requested": "nccl"}, "needs a GPU and torch sees none"),
        ({"told": "nccl"}, r"\(TRAINING_COLLECTIVES says so\) needs a GPU"),
        ({"requested": "cpu:gloo,cuda:nccl"}, "needs a GPU"),
        ({"told": "smddp", "cuda_devices": 8}, "needs the package smdistributed, which is not installed"),
        ({"told": "xla"}, "needs the package torch_xla"),
        ({"told": "neuron", "packages": ["torch_xla"]}, "needs the package torch_neuronx"),
        ({"told": "NCCL"}, "no such backend: 'NCCL'.*there are gloo, nccl, smddp, xla, neuron"),
        ({"requested": "mpi"}, "no such backend: 'mpi'"),
        ({"requested": "cpu:gloo,cuda:mpi", "cuda_devices": 1}, "no such backend: 'mpi'"),
    ],
)
def test_refusals(facts, message):
    with pytest.raises(ProcessGroupError, match=message):
        choice(**facts)


def test_installed_packages_are_among_the_known_ones():
    assert installed_packages() <= {"smdistributed", "torch_neuronx", "torch_xla"}
