"""The files in /opt/ml/input/config, as SageMaker writes them; pure.

https://docs.aws.amazon.com/sagemaker/latest/dg/your-algorithms-training-algo-running-container.html
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

HOMOGENEOUS = "homogeneousCluster"


@dataclass(frozen=True, kw_only=True)
class HostGroup:
    """Hosts of one instance type.

    Attributes:
        name: The instance group's name; `homogeneousCluster` for a job without groups.
        instance_type: For example `ml.p5.48xlarge`.
        hosts: Host names.
    """

    name: str
    instance_type: str
    hosts: tuple[str, ...]


def host_groups(request: Mapping[str, Any]) -> tuple[HostGroup, ...]:
    """The hosts that a request asks for, `algo-1` to `algo-N`, numbered through all groups."""
    resources = request["ResourceConfig"]
    wanted = resources.get("InstanceGroups") or [
        {
            "InstanceGroupName": HOMOGENEOUS,
            "InstanceType": resources.get("InstanceType", ""),
            "InstanceCount": resources["InstanceCount"],
        }
    ]
    groups = []
    first = 1
    for group in wanted:
        count = int(group["InstanceCount"])
        names = tuple(f"algo-{number}" for number in range(first, first + count))
        groups.append(HostGroup(name=group["InstanceGroupName"], instance_type=group["InstanceType"], hosts=names))
        first += count
    return tuple(groups)


def host_names(request: Mapping[str, Any]) -> tuple[str, ...]:
    """All hosts of a request, by number."""
    return tuple(host for group in host_groups(request) for host in group.hosts)


def config_files(request: Mapping[str, Any], host: str, interface: str) -> dict[str, Any]:
    """File name -> content for one host.

    Args:
        request: The request, with its intrinsics evaluated.
        host: The host for which the files are.
        interface: Name of its network interface.
    """
    files = {
        "hyperparameters.json": dict(request.get("HyperParameters", {})),
        "resourceconfig.json": _resource_config(request, host, interface),
        "inputdataconfig.json": {
            channel["ChannelName"]: _channel(channel, request) for channel in request.get("InputDataConfig", [])
        },
    }
    checkpoints = request.get("CheckpointConfig")
    if checkpoints:
        files["checkpointconfig.json"] = {
            "S3Uri": checkpoints["S3Uri"],
            "LocalPath": checkpoints.get("LocalPath", "/opt/ml/checkpoints"),
        }
    return files


def _resource_config(request: Mapping[str, Any], host: str, interface: str) -> dict[str, Any]:
    groups = host_groups(request)
    own = next(group for group in groups if host in group.hosts)
    return {
        "current_host": host,
        "current_instance_type": own.instance_type,
        "current_group_name": own.name,
        # the service lists them by the alphabet, algo-10 before algo-2
        "hosts": sorted(host_names(request)),
        "instance_groups": [
            {
                "instance_group_name": group.name,
                "instance_type": group.instance_type,
                "hosts": sorted(group.hosts),
            }
            for group in groups
        ],
        "network_interface_name": interface,
    }


def _channel(channel: Mapping[str, Any], request: Mapping[str, Any]) -> dict[str, str]:
    entry = {
        "TrainingInputMode": channel.get("InputMode")
        or request.get("AlgorithmSpecification", {}).get("TrainingInputMode", "File"),
        "S3DistributionType": channel["DataSource"]
        .get("S3DataSource", {})
        .get("S3DataDistributionType", "FullyReplicated"),
        "RecordWrapperType": channel.get("RecordWrapperType", "None"),
    }
    if "ContentType" in channel:
        entry["ContentType"] = channel["ContentType"]
    return entry
