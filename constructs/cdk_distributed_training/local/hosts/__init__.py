"""Hosts on this machine: the places where a local training job's containers run."""

from cdk_distributed_training.local.hosts.base import Hosts as Hosts
from cdk_distributed_training.local.hosts.base import HostsUnavailableError as HostsUnavailableError
from cdk_distributed_training.local.hosts.choose import Choice as Choice
from cdk_distributed_training.local.hosts.choose import choose as choose
from cdk_distributed_training.local.hosts.loopback import LoopbackHosts as LoopbackHosts
from cdk_distributed_training.local.hosts.namespaces import NamespaceHosts as NamespaceHosts
from cdk_distributed_training.local.hosts.namespaces import available as available

__all__ = ["Choice", "Hosts", "HostsUnavailableError", "LoopbackHosts", "NamespaceHosts", "available", "choose"]
