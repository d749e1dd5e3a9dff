"""NCCL over the Elastic Fabric Adapter, by the plug-in aws-ofi-nccl."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from training_launcher.collectives.facts import Facts
from training_launcher.collectives.versions import older, shown
from training_launcher.collectives.way import Way, several

_RDMA_OF_ITS_TIME = ("ml.p4d.", "ml.p4de.")
"""Types with GPUs whose EFA can read remote memory and that software from before libfabric 1.18 runs on.

A closed list: whatever came later needs newer libraries, and those find out themselves.
"""


class NcclOverEfa(Way):
    """The plug-in sets what it needs for each platform itself, so only old versions get variables from here.

    https://github.com/aws/aws-ofi-nccl/blob/master/doc/efa-env-var.md
    """

    backend: ClassVar[str] = "nccl"
    interface_variable: ClassVar[str] = "NCCL_SOCKET_IFNAME"
    suspects: ClassVar[str] = (
        "the security group must allow all traffic from and to itself, by its own id (EFA traffic does not match rules "
        "with addresses), all hosts must be in one subnet, and aws-ofi-nccl and libfabric must fit the image's NCCL"
    )

    def label(self, facts: Facts) -> str:
        """One for all versions, so that hosts can compare it."""
        return "nccl over EFA"

    def uses_efa(self, facts: Facts) -> bool:
        """By definition."""
        return True

    def missing(self, facts: Facts) -> Sequence[str]:
        """Devices, their files, libfabric, the plug-in."""
        return [*([] if facts.gpus else ["a GPU"]), *facts.missing_for_efa]

    def objection(self, facts: Facts) -> str:
        """A single host has nothing to send."""
        return "" if facts.several_hosts else "there is one host"

    def reason(self, facts: Facts) -> str:
        """Devices and versions."""
        libfabric = facts.libfabric.version if facts.libfabric else None
        plugin = facts.plugin.version if facts.plugin else None
        return (
            f"{several(facts.gpus, 'GPU')}, {several(len(facts.fabric.efa), 'EFA device')}, "
            f"libfabric {shown(libfabric)}, aws-ofi-nccl {shown(plugin)}"
        )

    def environment(self, facts: Facts) -> Mapping[str, str]:
        """By version: nothing at all for software of the last years, except where the loader would not find it."""
        plugin, libfabric = facts.plugin, facts.libfabric
        if not plugin or not libfabric:
            return {}
        variables: dict[str, str] = {}
        if older(plugin.version, (1, 5, 1)):
            variables.update(FI_PROVIDER="efa", NCCL_PROTO="simple")
        by_hand = older(libfabric.version, (1, 18)) or older(plugin.version, (1, 7))
        if by_hand and facts.instance_type.startswith(_RDMA_OF_ITS_TIME):
            variables["FI_EFA_USE_DEVICE_RDMA"] = "1"
        if plugin.plugin_name:
            variables["NCCL_NET_PLUGIN"] = plugin.plugin_name
        unknown = [library.folder for library in (plugin, libfabric) if not library.found_by_loader]
        if unknown:
            variables["LD_LIBRARY_PATH"] = ":".join(
                dict.fromkeys([*filter(None, facts.environment.get("LD_LIBRARY_PATH", "").split(":")), *unknown])
            )
        return variables

    def warnings(self, facts: Facts) -> Sequence[str]:
        """Variables that other launchers set for everyone."""
        return tuner_warnings(facts)


def tuner_warnings(facts: Facts) -> Sequence[str]:
    """What keeps the plug-in from choosing algorithms itself, or does harm."""
    warnings = []
    plugin = facts.plugin
    tuned = [name for name in ("NCCL_ALGO", "NCCL_PROTO") if name in facts.environment]
    if tuned and not (plugin and older(plugin.version, (1, 5, 1))):
        warnings.append(f"{' and '.join(tuned)} set by you: aws-ofi-nccl does not load its tuner then")
    verbs = sorted(name for name in facts.environment if name.startswith("RDMAV_"))
    if verbs:
        warnings.append(f"{' and '.join(verbs)} set by you: aws-ofi-nccl says not to use RDMAV_* variables")
    return warnings
