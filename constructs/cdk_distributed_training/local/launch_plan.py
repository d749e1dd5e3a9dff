"""Ask the launcher what it would start on each host, without starting anything."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cdk_distributed_training.local.accelerators import without_unmet
from cdk_distributed_training.local.assembly import SynthesizedAsset
from cdk_distributed_training.local.channels import AssetSource, object_key
from cdk_distributed_training.local.container_environment import container_environment
from cdk_distributed_training.local.device_counts import counted_for
from cdk_distributed_training.local.hosts import LoopbackHosts
from cdk_distributed_training.local.image_launcher import launcher_of_image, with_command
from cdk_distributed_training.local.input_files import config_files, host_groups
from cdk_distributed_training.local.local_run import ResolvedJob


@dataclass(frozen=True, kw_only=True)
class LaunchPlan:
    """What the launcher would start on one host.

    Attributes:
        commands: Argument vectors, as they would run in the container.
        processes_per_host: Ranks on the host.
        first_rank: The host's lowest global rank.
        world_size: Ranks on all hosts.
        problem: Why there is no plan; else empty.
    """

    commands: tuple[tuple[str, ...], ...] = ()
    processes_per_host: int = 0
    first_rank: int = 0
    world_size: int = 0
    problem: str = ""


LAUNCHER_CHANNEL = "launcher"
TIMEOUT = 60  # seconds


def launch_plans(resolved: ResolvedJob) -> dict[str, LaunchPlan]:
    """The launcher's own plan for each host, from its `--dry-run`.

    Accelerators are counted by the hosts' instance types, not on this machine. Where the image has the launcher inside,
    this library's own is asked. Empty for a job without the launcher: only its image knows what it starts.
    """
    assets = _channel_assets(resolved)
    # what asks for a device would be refused here, and is not for this machine
    request, _ = without_unmet(resolved.request)
    if LAUNCHER_CHANNEL in assets:
        launcher = assets[LAUNCHER_CHANNEL].path
    elif resolved.job.launcher_inside and not request["AlgorithmSpecification"].get("ContainerEntrypoint"):
        launcher, request = launcher_of_image(), with_command(request)
    else:
        return {}
    types = {host: group.instance_type for group in host_groups(request) for host in group.hosts}
    environment = container_environment(
        request, job_name=resolved.job.job_name, region=resolved.region, account=resolved.account
    )
    plans = {}
    with (
        tempfile.TemporaryDirectory(prefix="dtrain-plan-") as folder,
        LoopbackHosts(resolved.host_names, Path(folder), "plan") as hosts,
    ):
        for name, asset in assets.items():
            AssetSource(asset).place(hosts, name)
        for host in hosts.names:
            base = hosts.opt_ml(host)
            for file, content in config_files(request, host, "eth0").items():
                (base / "input/config" / file).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
            words = request["AlgorithmSpecification"].get("ContainerArguments") or [""]
            kind, *rest = counted_for(words, types[host], request.get("Environment", {}))
            command = [sys.executable, str(launcher), kind, "--dry-run", "--base-dir", str(base), *rest]
            plans[host] = _asked(command, environment, base)
    return _together(plans)


def _asked(command: Sequence[str], environment: Mapping[str, str], base: Path) -> LaunchPlan:
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            out, errors = process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            return LaunchPlan(problem=f"the launcher gave no plan within {TIMEOUT} seconds")
    if process.returncode:
        return LaunchPlan(problem=(errors or out).strip().replace(str(base), "/opt/ml"))
    # as the first process of a container sees itself
    own = {str(base): "/opt/ml", sys.executable: "python3", f"-{process.pid}/": "-1/"}
    for here, there in own.items():
        out = out.replace(here, there)
    return _parse(out)


def _together(plans: dict[str, LaunchPlan]) -> dict[str, LaunchPlan]:
    """Number the ranks through all hosts: each plan counts as if all hosts were like its own."""
    whole = sum(plan.processes_per_host for plan in plans.values())
    numbered, first = {}, 0
    for host, plan in plans.items():
        numbered[host] = dataclasses.replace(plan, first_rank=first, world_size=whole)
        first += plan.processes_per_host
    return numbered


def _parse(text: str) -> LaunchPlan:
    plan = json.loads(text)
    return LaunchPlan(
        commands=tuple(tuple(command["argv"]) for command in plan["commands"]),
        processes_per_host=plan["processes_per_host"],
        first_rank=plan["first_rank"],
        world_size=plan["world_size"],
    )


def _channel_assets(resolved: ResolvedJob) -> dict[str, SynthesizedAsset]:
    found = {}
    for channel in resolved.request.get("InputDataConfig", []):
        asset = resolved.job.assets.get(object_key(channel) or "")
        if asset is not None and asset.path.exists():
            found[channel["ChannelName"]] = asset
    return found
