"""A situation as a launch kind sees it, on machines that are not this one."""

from typing import Any

from training_launcher.cluster import Cluster, parse_cluster
from training_launcher.command_line import parse_command_line
from training_launcher.devices import Devices
from training_launcher.launchers.base import Launch, Situation

CPU = Devices(gpus=0, neuron_cores=0, cpus=8, efa=False)
TRN1 = Devices(gpus=0, neuron_cores=32, cpus=128, efa=True)


def cluster_of(hosts: int, host: str, **members: Any) -> Cluster:
    """algo-1 and so on."""
    names = [f"algo-{number + 1}" for number in range(hosts)]
    content = {"hosts": names, "current_host": host, "network_interface_name": "eth0", **members}
    return parse_cluster(content, "resourceconfig.json")


def launch_of(
    *words: str,
    host: str = "algo-1",
    hosts: int = 2,
    devices: Devices = CPU,
    environment: dict[str, str] | None = None,
    addresses: dict[str, str] | None = None,
) -> Launch:
    """What the kind launches on a host of a job whose hosts are all alike."""
    request = parse_command_line(words, environment or {})
    cluster = cluster_of(hosts, host)
    processes = tuple(
        request.launcher.processes(request.options, devices) * request.launcher.has_ranks(request.options, number)
        for number in range(hosts)
    )
    return request.launcher.launch(
        Situation(
            cluster=cluster,
            world=cluster.hosts,
            processes=processes,
            devices=devices,
            options=request.options,
            entry=request.entry,
            arguments=(),
            working_directory="/opt/ml/code",
            run_directory="/tmp/run",
            python="python3",
            addresses=addresses or {name: name for name in cluster.hosts},
            job_name="job-1",
            environment=environment or {},
        )
    )
