"""Ask the launcher what it would start on each host, without starting anything."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from cdk_distributed_training.local.assembly import SynthesizedAsset
from cdk_distributed_training.local.channels import AssetSource, object_key
from cdk_distributed_training.local.container_environment import container_environment
from cdk_distributed_training.local.hosts import LoopbackHosts
from cdk_distributed_training.local.input_files import config_files
from cdk_distributed_training.local.local_run import ResolvedJob

LAUNCHER_CHANNEL = "launcher"
TIMEOUT = 60  # seconds


def launch_plans(resolved: ResolvedJob) -> dict[str, dict[str, Any]]:
    """The launcher's own plan for each host, from its `--dry-run`; empty if the job brings no launcher as a channel."""
    assets = _channel_assets(resolved)
    launcher = assets.get(LAUNCHER_CHANNEL)
    if launcher is None:
        return {}
    kind, *rest = resolved.request["AlgorithmSpecification"].get("ContainerArguments", [])
    plans = {}
    with tempfile.TemporaryDirectory(prefix="dtrain-plan-") as folder:
        hosts = LoopbackHosts(resolved.host_names, Path(folder), "plan")
        for name, asset in assets.items():
            AssetSource(asset).place(hosts, name)
        for host in hosts.names:
            base = hosts.opt_ml(host)
            for file, content in config_files(resolved.request, host, "eth0").items():
                (base / "input/config" / file).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
            result = subprocess.run(
                [sys.executable, str(launcher.path), kind, "--dry-run", "--base-dir", str(base), *rest],
                env=container_environment(
                    resolved.request, job_name=resolved.job.job_name, region=resolved.region, account=resolved.account
                ),
                check=False,
                capture_output=True,
                text=True,
                timeout=TIMEOUT,
            )
            plans[host] = json.loads(result.stdout) if result.returncode == 0 else {"problem": result.stderr.strip()}
    return plans


def _channel_assets(resolved: ResolvedJob) -> dict[str, SynthesizedAsset]:
    found = {}
    for channel in resolved.request.get("InputDataConfig", []):
        asset = resolved.job.assets.get(object_key(channel) or "")
        if asset is not None and asset.path.exists():
            found[channel["ChannelName"]] = asset
    return found
