"""The ``SM_*`` variables of both existing toolkits, so that scripts written for them run unchanged.

``sagemaker-training`` 5.1.4 (SageMaker Python SDK 2) and the drivers of the SageMaker Python SDK 3. Where they differ
in a name, both are set: ``SM_HP_BATCH-SIZE`` of the one and ``SM_HP_BATCH_SIZE`` of the other.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from training_launcher.cluster import Cluster
from training_launcher.devices import Devices
from training_launcher.hyperparameters import RESERVED
from training_launcher.json_file import plain


class JobFacts(NamedTuple):
    """What the variables are made of."""

    base_directory: str
    cluster: Cluster
    world: tuple[str, ...]
    devices: Devices
    hyperparameters: Mapping[str, str]
    channels: Mapping[str, Any]
    """Channel name to its entry in inputdataconfig.json."""
    arguments: Sequence[str]
    """The script's arguments, hyperparameters among them."""
    entry: str
    master_address: str
    master_port: int
    environment: Mapping[str, str]
    """As the container was started, for the region and the job's name."""


def sagemaker_variables(facts: JobFacts) -> dict[str, str]:
    """Name to value of every variable."""
    variables = {
        **_folders(facts.base_directory),
        **_hosts(facts),
        **_entry(facts),
        **_data(facts),
        **_hyperparameters(facts.hyperparameters),
    }
    variables["SM_TRAINING_ENV"] = _json({name: value for name, value in variables.items() if "_HP_" not in name})
    return variables


def read_channels(base_directory: str, configured: Mapping[str, Any] | None) -> dict[str, Any]:
    """The job's channels: from inputdataconfig.json, else the folders that are there."""
    if configured is not None:
        return {name: plain(value) for name, value in sorted(configured.items())}
    data = os.path.join(base_directory, "input/data")
    names = sorted(os.listdir(data)) if os.path.isdir(data) else []
    return {name: {} for name in names if os.path.isdir(os.path.join(data, name))}


def _folders(base: str) -> dict[str, str]:
    return {
        "SM_INPUT_DIR": f"{base}/input",
        "SM_INPUT_DATA_DIR": f"{base}/input/data",
        "SM_INPUT_CONFIG_DIR": f"{base}/input/config",
        "SM_OUTPUT_DIR": f"{base}/output",
        "SM_OUTPUT_DATA_DIR": f"{base}/output/data",
        "SM_OUTPUT_INTERMEDIATE_DIR": f"{base}/output/intermediate",
        "SM_OUTPUT_FAILURE": f"{base}/output/failure",
        "SM_MODEL_DIR": f"{base}/model",
        "SM_MODULE_DIR": f"{base}/code",
        "SM_SOURCE_DIR": f"{base}/code",
    }


def _hosts(facts: JobFacts) -> dict[str, str]:
    cluster, devices = facts.cluster, facts.devices
    group = cluster.group_of(cluster.current_host)
    groups = {
        one.name: {"instance_group_name": one.name, "instance_type": one.instance_type, "hosts": list(one.hosts)}
        for one in cluster.groups
    }
    in_world = [one.name for one in cluster.groups if any(host in facts.world for host in one.hosts)]
    return {
        "SM_HOSTS": _json(cluster.hosts),
        "SM_HOST_COUNT": str(len(cluster.hosts)),
        "SM_CURRENT_HOST": cluster.current_host,
        "SM_CURRENT_HOST_RANK": str(cluster.hosts.index(cluster.current_host)),
        "SM_CURRENT_INSTANCE_TYPE": group.instance_type,
        "SM_CURRENT_INSTANCE_GROUP": group.name,
        "SM_CURRENT_INSTANCE_GROUP_HOSTS": _json(group.hosts),
        "SM_INSTANCE_GROUPS": _json(list(groups)),
        "SM_INSTANCE_GROUPS_DICT": _json(groups),
        "SM_DISTRIBUTION_INSTANCE_GROUPS": _json(in_world),
        "SM_IS_HETERO": "true" if len(cluster.groups) > 1 else "false",
        "SM_NETWORK_INTERFACE_NAME": cluster.interface,
        "SM_RESOURCE_CONFIG": _json(plain(cluster.resource_config)),
        **({"SM_TOPOLOGY": _json(plain(topology))} if (topology := cluster.resource_config.get("topology")) else {}),
        "SM_MASTER_ADDR": facts.master_address,
        "SM_MASTER_PORT": str(facts.master_port),
        "SM_NUM_CPUS": str(devices.cpus),
        "SM_NUM_GPUS": str(devices.gpus),
        "SM_NUM_NEURONS": str(devices.neuron_cores),
    }


def _entry(facts: JobFacts) -> dict[str, str]:
    environment = facts.environment
    name = os.path.basename(facts.entry)
    return {
        "SM_USER_ENTRY_POINT": facts.entry,
        "SM_ENTRY_SCRIPT": facts.entry,
        "SM_MODULE_NAME": name[:-3] if name.endswith(".py") else name,
        "SM_FRAMEWORK_MODULE": environment.get("SAGEMAKER_TRAINING_MODULE", ""),
        "SM_FRAMEWORK_PARAMS": "{}",
        "SM_LOG_LEVEL": environment.get("SAGEMAKER_CONTAINER_LOG_LEVEL", "20"),
        "SM_USER_ARGS": _json(facts.arguments),
        "SAGEMAKER_JOB_NAME": environment.get("TRAINING_JOB_NAME", ""),
        "SAGEMAKER_REGION": environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION", ""),
        "CURRENT_HOST": facts.cluster.current_host,
    }


def _data(facts: JobFacts) -> dict[str, str]:
    base = facts.base_directory
    return {
        "SM_INPUT_DATA_CONFIG": _json(facts.channels),
        "SM_CHANNELS": _json(list(facts.channels)),
        **{f"SM_CHANNEL_{name.upper()}": f"{base}/input/data/{name}" for name in facts.channels},
        **{
            f"SM_CHANNEL_{name.upper().replace('-', '_').replace('.', '_')}": f"{base}/input/data/{name}"
            for name in facts.channels
        },
    }


def _hyperparameters(hyperparameters: Mapping[str, str]) -> dict[str, str]:
    users = {name: value for name, value in hyperparameters.items() if not RESERVED.fullmatch(name)}
    named = {name: value for name, value in users.items() if "=" not in name}
    return {
        "SM_HPS": _json({name: _value(value) for name, value in users.items()}),
        **{f"SM_HP_{name.upper()}": value for name, value in named.items()},
        **{f"SM_HP_{name.upper().replace('-', '_')}": value for name, value in named.items()},
    }


def _value(text: str) -> Any:
    """What scripts read from SM_HPS: numbers, booleans and lists as such, anything else as text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
