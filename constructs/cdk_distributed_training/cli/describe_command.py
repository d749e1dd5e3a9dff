"""`dtrain describe`: what a synthesized app would deploy, and what its training jobs would run."""

from __future__ import annotations

import collections
import shlex
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cdk_distributed_training.cli.options import DEFAULT_APP, App, Hyperparameters, InstanceCount, Job, pairs
from cdk_distributed_training.local.assembly import Assembly, SynthesizedStack
from cdk_distributed_training.local.channels import origin
from cdk_distributed_training.local.launch_plan import launch_plans
from cdk_distributed_training.local.local_run import ResolvedJob, resolve_job


def describe(
    *,
    job: Job = None,
    app: App = DEFAULT_APP,
    instance_count: InstanceCount = None,
    hyperparameter: Hyperparameters = None,
) -> None:
    """Show what the synthesized app would deploy and what its training jobs would run on each host."""
    hyperparameters = pairs("--hyperparameter", hyperparameter, "lr=0.1")
    assembly = Assembly(app)
    paths = [job] if job else [found.path for found in assembly.jobs]
    resolved = [
        resolve_job(assembly, path, instance_count=instance_count, hyperparameters=hyperparameters) for path in paths
    ]
    console = Console(highlight=False)
    for stack in assembly.stacks:
        console.print(_resources(stack))
    if not resolved:
        console.print("No training job in this app.")
    for one in resolved:
        console.print(_job(one))
        console.print(_commands(one))


def _resources(stack: SynthesizedStack) -> Table:
    resources: dict[str, dict[str, Any]] = stack.template.get("Resources", {})
    where = f"{stack.account or 'any account'}, {stack.region or 'any region'}"
    table = Table(title=f"Stack {stack.name} ({where}): {len(resources)} resources", title_justify="left")
    table.add_column("resource type")
    table.add_column("count", justify="right")
    counts = collections.Counter(resource["Type"] for resource in resources.values())
    for kind, count in sorted(counts.items()):
        table.add_row(kind, str(count))
    return table


def _job(resolved: ResolvedJob) -> Table:
    request = resolved.request
    machines = request["ResourceConfig"]
    table = Table(title=f"Training job {resolved.job.path}", title_justify="left", show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    rows = {
        "hosts": f"{len(resolved.host_names)}: {', '.join(resolved.host_names)}",
        "instance type": ", ".join(
            group["InstanceType"] for group in machines.get("InstanceGroups", [machines])
        ),
        "image": request["AlgorithmSpecification"].get("TrainingImage", ""),
        "longest run": f"{request.get('StoppingCondition', {}).get('MaxRuntimeInSeconds', 'unlimited')} s",
        "managed spot": "yes" if request.get("EnableManagedSpotTraining") else "no",
    }  # fmt: skip
    for channel in request.get("InputDataConfig", []):
        rows[f"channel {channel['ChannelName']}"] = origin(channel)
    for name, value in request["HyperParameters"].items():
        rows[f"hyperparameter {name}"] = value
    for name, value in request.get("Environment", {}).items():
        rows[f"environment {name}"] = str(value)
    for row in rows.items():
        table.add_row(row[0], Text(row[1]))
    return table


def _commands(resolved: ResolvedJob) -> Table:
    algorithm = resolved.request["AlgorithmSpecification"]
    container = shlex.join([*algorithm.get("ContainerEntrypoint", []), *algorithm.get("ContainerArguments", [])])
    table = Table(title=f"Command line of {resolved.job.path} on each host", title_justify="left", show_lines=True)
    table.add_column("host")
    table.add_column("command", overflow="fold")
    table.add_row("all, in the container", Text(container or "the image's own entrypoint"))
    for host, plan in launch_plans(resolved).items():
        table.add_row(host, Text(shlex.join(plan["argv"]) if "argv" in plan else plan.get("problem", str(plan))))
    return table
