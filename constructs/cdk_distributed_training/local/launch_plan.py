"""Ask the launcher what it would start on each host, without starting anything."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from cdk_distributed_training.local.assembly import SynthesizedAsset
from cdk_distributed_training.local.channels import AssetSource, object_key
from cdk_distributed_training.local.container_environment import container_environment
from cdk_distributed_training.local.hosts import LoopbackHosts
from cdk_distributed_training.local.image_launcher import launcher_of_image, with_command
from cdk_distributed_training.local.input_files import config_files
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

    Where the image has the launcher inside, this library's own is asked. Empty for a job without the launcher: only its
    image knows what it starts.
    """
    assets = _channel_assets(resolved)
    request = resolved.request
    if LAUNCHER_CHANNEL in assets:
        launcher = assets[LAUNCHER_CHANNEL].path
    elif resolved.job.launcher_inside and not request["AlgorithmSpecification"].get("ContainerEntrypoint"):
        launcher, request = launcher_of_image(), with_command(request)
    else:
        return {}
    kind, *rest = request["AlgorithmSpecification"].get("ContainerArguments") or [""]
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
            result = subprocess.run(
                [sys.executable, str(launcher), kind, "--dry-run", "--base-dir", str(base), *rest],
                env=container_environment(
                    request, job_name=resolved.job.job_name, region=resolved.region, account=resolved.account
                ),
                check=False,
                capture_output=True,
                text=True,
                timeout=TIMEOUT,
            )
            text = result.stdout.replace(str(base), "/opt/ml").replace(sys.executable, "python3")
            failed = (result.stderr or result.stdout).strip().replace(str(base), "/opt/ml")
            plans[host] = _parse(text) if result.returncode == 0 else LaunchPlan(problem=failed)
    return plans


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
