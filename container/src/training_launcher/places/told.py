"""Hosts that are told in so many words: pods of Kubernetes, or machines that one starts by hand.

``TRAINING_HOSTS`` is the same on every host; which one a host is, it knows by its own name.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from training_launcher.problems import Problem

VARIABLE = "TRAINING_HOSTS"


def resource_config(environment: Mapping[str, str]) -> dict[str, Any] | None:
    """The place; None unless it is told.

    Raises:
        Problem: It is no list of names, or this host's is not among them.
    """
    text = environment.get(VARIABLE)
    if not text:
        return None
    try:
        hosts = json.loads(text)
    except ValueError:
        hosts = None
    if not isinstance(hosts, list) or not all(isinstance(host, str) and host for host in hosts) or not hosts:
        raise Problem(f'{VARIABLE} must be a JSON list of host names, such as ["node-0", "node-1"], got {text!r}')
    own = os.uname().nodename
    # a name may be given in full, while the kernel knows its first part, or the other way round
    fitting = [host for host in hosts if host == own] or [host for host in hosts if _first(host) == _first(own)]
    if len(fitting) != 1:
        raise Problem(f"{VARIABLE} names the hosts {', '.join(hosts)}, of which {own}, this host, must be one")
    return {"current_host": fitting[0], "hosts": hosts}


def _first(name: str) -> str:
    return name.split(".", 1)[0]
