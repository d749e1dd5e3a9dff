"""``TF_CONFIG``: how TensorFlow's processes learn of each other.

https://www.tensorflow.org/guide/distributed_training#setting_up_the_tf_config_environment_variable
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

Tasks = Mapping[str, Sequence[str]]
"""Task type to the ``host:port`` of each of its tasks."""


def tf_config(tasks: Tasks, kind: str, index: int) -> str:
    """The variable's value for one task.

    Args:
        tasks: All tasks; types without any are left out.
        kind: The task's own type, such as ``worker``.
        index: Its place among those of its type.
    """
    return json.dumps(
        {
            "cluster": {name: list(places) for name, places in tasks.items() if places},
            "environment": "cloud",
            "task": {"type": kind, "index": index},
        }
    )


def places(hosts: Sequence[str], addresses: Mapping[str, str], port: int, ports_each: int = 1) -> list[str]:
    """``host:port`` of each host.

    Args:
        hosts: The hosts.
        addresses: What reaches each.
        port: The port on every host; hosts that share an address, as in a job on one machine, get ports of their own.
        ports_each: How many ports each host needs, counted from `port`.
    """
    shared = len({addresses[host] for host in hosts}) < len(hosts)
    return [f"{addresses[host]}:{port + ports_each * number * shared}" for number, host in enumerate(hosts)]
