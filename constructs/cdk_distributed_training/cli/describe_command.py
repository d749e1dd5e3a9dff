"""`dtrain describe`: what a synthesized app would deploy, and what its training jobs would run."""

from __future__ import annotations

import collections
import shlex
from collections.abc import Mapping
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from cdk_distributed_training.cli.options import DEFAULT_APP, App, Hyperparameters, InstanceCount, Job, pairs
from cdk_distributed_training.local.assembly import Assembly
from cdk_distributed_training.local.channels import origin
from cdk_distributed_training.local.launch_plan import LaunchPlan, launch_plans
from cdk_distributed_training.local.local_run import ResolvedJob, resolve_job
from cdk_distributed_training.local.resolve import Resolver
from cdk_distributed_training.local.synthesized_stack import SynthesizedStack

_WIDTH_OF_NO_TERMINAL = 120


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
    others = assembly.elsewhere if job is None else assembly.way(job)
    if job is None:
        paths = [found.path for found in assembly.jobs]
    else:
        paths = [] if others and not assembly.runs_here(others[0]) else [job]
    jobs = [
        resolve_job(assembly, path, instance_count=instance_count, hyperparameters=hyperparameters) for path in paths
    ]
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDTH_OF_NO_TERMINAL
    for stack in assembly.stacks:
        console.print(_resources(stack))
    if not jobs and not assembly.elsewhere:
        console.print("No training job in this app.")
    for other in others:
        if other.request is None:
            console.print(Text(f"\n{assembly.told(other)}"))
        else:
            resolver = Resolver(other.stack, [stack for stack in assembly.stacks if stack is not other.stack])
            console.print(_titled(other.what, _asked_for(resolver(dict(other.request)))))
    for one in jobs:
        console.print(_job(one))
        console.print(_commands(one))


def _asked_for(request: Mapping[str, Any]) -> RenderableType:
    """A request that only AWS can serve, as a table."""
    table = Table(show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    config = request.get("ServerlessJobConfig", {})
    rows = {member: str(value) for member, value in config.items()}
    rows |= {f"channel {channel['ChannelName']}": origin(channel) for channel in request.get("InputDataConfig", [])}
    rows |= {f"hyperparameter {name}": str(value) for name, value in request.get("HyperParameters", {}).items()}
    for name, value in rows.items():
        table.add_row(name, Text(value))
    return table


def _resources(stack: SynthesizedStack) -> RenderableType:
    resources: dict[str, dict[str, Any]] = stack.template.get("Resources", {})
    table = Table("resource type")
    table.add_column("count", justify="right")
    counts = collections.Counter(resource["Type"] for resource in resources.values())
    for kind, count in sorted(counts.items()):
        table.add_row(kind, str(count))
    where = f"{stack.account or 'any account'}, {stack.region or 'any region'}"
    return _titled(f"Stack {stack.name} ({where}): {len(resources)} resources", table)


def _job(resolved: ResolvedJob) -> RenderableType:
    request = resolved.request
    machines = request["ResourceConfig"]
    table = Table(show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    rows = {
        "hosts": f"{len(resolved.host_names)}: {', '.join(resolved.host_names)}",
        "instance type": ", ".join(str(one["InstanceType"]) for one in machines.get("InstanceGroups", [machines])),
        **_image(request["AlgorithmSpecification"]),
        "longest run": f"{request.get('StoppingCondition', {}).get('MaxRuntimeInSeconds', 'unlimited')} s",
        "managed spot": "yes" if request.get("EnableManagedSpotTraining") else "no",
    }
    for channel in request.get("InputDataConfig", []):
        rows[f"channel {channel['ChannelName']}"] = origin(channel)
    for name, value in request["HyperParameters"].items():
        rows[f"hyperparameter {name}"] = value
    if resolved.notes:
        rows["note"] = "\n".join(resolved.notes)
    for name, value in request.get("Environment", {}).items():
        rows[f"environment {name}"] = str(value)
    for name, value in rows.items():
        table.add_row(name, Text(value))
    return _titled(f"Training job {resolved.job.path}", table)


def _image(algorithm: Mapping[str, Any]) -> dict[str, str]:
    if "AlgorithmName" in algorithm:
        return {"algorithm": str(algorithm["AlgorithmName"])}
    return {"image": str(algorithm.get("TrainingImage", ""))}


def _commands(resolved: ResolvedJob) -> RenderableType:
    algorithm = resolved.request["AlgorithmSpecification"]
    entrypoint = algorithm.get("ContainerEntrypoint")
    words = shlex.join([*(entrypoint or []), *algorithm.get("ContainerArguments", [])])
    table = Table("host", show_lines=True)
    table.add_column("command line", overflow="fold")
    table.add_row("each container", Text(words if entrypoint else f"<the image's own entry point> {words}"))
    for host, plan in launch_plans(resolved).items():
        table.add_row(host, Text(_shown(plan)))
    return _titled(f"What {resolved.job.path} runs", table)


def _shown(plan: LaunchPlan) -> str:
    if plan.problem:
        return plan.problem
    commands = collections.Counter(shlex.join(command) for command in plan.commands)
    lines = [f"{count} x {command}" if count > 1 else command for command, count in commands.items()]
    if not plan.processes_per_host:
        return "\n".join([*lines, "(no rank)"])
    last = plan.first_rank + plan.processes_per_host - 1
    ranks = f"rank {last}" if last == plan.first_rank else f"ranks {plan.first_rank} to {last}"
    return "\n".join([*lines, f"({ranks} of {plan.world_size})"])


def _titled(title: str, body: RenderableType) -> RenderableType:
    return Group(Text(f"\n{title}", style="bold"), body)
