"""What AWS's Neuron libraries read from the environment on Trainium, and where they keep compiled graphs."""

from __future__ import annotations

from training_launcher.devices import Devices
from training_launcher.problems import Problem

ROOT_PORT = 62182
"""Port where the Neuron runtimes of a world meet; torch_xla's Neuron plug-in has the same."""
OVER_EFA = {"FI_PROVIDER": "efa", "FI_EFA_USE_DEVICE_RDMA": "1", "FI_EFA_FORK_SAFE": "1"}
"""As AWS's own Neuron samples; every Trainium's EFA can read remote memory, and data loaders fork.

https://awsdocs-neuron.readthedocs-hosted.com/en/latest/frameworks/torch/torch-neuronx/setup-trn1-multi-node-execution.html
"""
_KEYED_BY = ("neuronx-cc", "torch-neuronx", "torch-xla")


def network_of_collectives(devices: Devices, interface: str, hosts: int) -> dict[str, str]:
    """How the runtimes of several hosts reach each other: over EFA where it is."""
    if hosts < 2 or not devices.neuron_cores:
        return {}
    variables = dict(OVER_EFA) if devices.efa else {}
    if interface:
        variables["CCOM_SOCKET_IFNAME"] = interface
    return variables


def xla_variables(devices: Devices, leader_address: str, hosts: int) -> dict[str, str]:
    """For PyTorch/XLA; what differs by rank its Neuron plug-in derives itself, from torchrun's variables.

    https://awsdocs-neuron.readthedocs-hosted.com/en/latest/frameworks/torch/torch-neuronx/api-reference-guide/training/torch-neuron-envvars.html
    """
    variables = {"PJRT_DEVICE": "NEURON" if devices.neuron_cores else "CPU"}
    if devices.neuron_cores:
        # compilers and data loaders of dozens of ranks share the host's memory: AWS's samples keep glibc's share small
        variables["MALLOC_ARENA_MAX"] = "64"
        if hosts > 1:
            variables["NEURON_RT_ROOT_COMM_ID"] = f"{leader_address}:{ROOT_PORT}"
    return variables


def spmd_variables(devices: Devices, host_rank: int, hosts: int) -> dict[str, str]:
    """For one process on each host that computes with all its cores, the same number on every host.

    Where each process has one core, as torch_xla assumes by itself, it derives these; here it asks for them. Neuron's
    plug-in for JAX reads the same two.
    https://github.com/pytorch/xla/pull/8046
    """
    # use_spmd() in the script comes after torch_xla's import, which would already have taken one core only
    variables = {"XLA_USE_SPMD": "1"}
    if devices.neuron_cores and hosts > 1:
        variables["NEURON_PJRT_PROCESSES_NUM_DEVICES"] = ",".join([str(devices.neuron_cores)] * hosts)
        variables["NEURON_PJRT_PROCESS_INDEX"] = str(host_rank)
    return variables


def compile_cache_variables(backend: str, address: str, key: str) -> dict[str, str]:
    """Where compiled graphs are kept, so that the next job, or the next host, need not compile them.

    Args:
        backend: ``xla`` or ``neuron``.
        address: Folder, or ``s3://bucket/prefix``.
        key: A folder in it; none when empty.

    Raises:
        Problem: The native backend is to use S3, which it cannot.
    """
    place = f"{address.rstrip('/')}/{key}" if key else address
    if backend == "xla":
        return {"NEURON_COMPILE_CACHE_URL": place}
    if "://" in address:
        raise Problem(
            f"--compile-cache must be a folder with --backend neuron, got {address!r}: its compiler cache knows no S3; "
            "a folder on FSx for Lustre is shared by all hosts"
        )
    return {"TORCH_NEURONX_NEFF_CACHE_DIR": place}


def installed_versions() -> str:
    """A cache key: graphs that other versions have compiled are never taken, and can be deleted together.

    Empty where nothing of Neuron is installed.
    """
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415  costs 15 ms, and one kind needs it

    found = []
    for package in _KEYED_BY:
        try:
            found.append(f"{package}-{version(package)}".replace("+", "-"))
        except PackageNotFoundError:  # the flavour without it
            continue
    return "_".join(found)
