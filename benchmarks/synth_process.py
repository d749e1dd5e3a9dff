"""What both sides of the synth benchmark share: how an app is made, measured and counted, in a process of its own."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import aws_cdk as cdk
    from aws_cdk import aws_ec2 as ec2

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "digits"


def finish(build: Callable[..., None], *, count: int, folder: str) -> None:
    """Build and synthesize an app; print how many requests crossed into Node.js."""
    crossings = [0]
    if os.environ.get("COUNT_CROSSINGS"):
        _count(crossings)
    import aws_cdk as cdk  # noqa: PLC0415  what it takes to start Node.js is measured too

    # a stack may have 500 resources; here all jobs are in one
    app = cdk.App(analytics_reporting=False, outdir=folder, context={"@aws-cdk/core:stackResourceLimit": 0})
    build(app, count)
    app.synth()
    print(crossings[0])


def network(stack: cdk.Stack) -> tuple[ec2.Vpc, ec2.ISubnet, ec2.SecurityGroup]:
    """What an app has before it has a job: a VPC with one private subnet, and a group that is open to itself."""
    from aws_cdk import aws_ec2 as ec2  # noqa: PLC0415  not for the generic app

    private = ec2.SubnetConfiguration(name="training", subnet_type=ec2.SubnetType.PRIVATE_ISOLATED)
    vpc = ec2.Vpc(stack, "Vpc", max_azs=1, nat_gateways=0, subnet_configuration=[private])
    group = ec2.SecurityGroup(stack, "Nodes", vpc=vpc, allow_all_outbound=False)
    itself = {"group_id": group.security_group_id, "ip_protocol": "-1"}
    ec2.CfnSecurityGroupIngress(stack, "In", source_security_group_id=group.security_group_id, **itself)
    ec2.CfnSecurityGroupEgress(stack, "Out", destination_security_group_id=group.security_group_id, **itself)
    return vpc, vpc.isolated_subnets[0], group


def _count(crossings: list[int]) -> None:
    from jsii._kernel.providers.process import _NodeProcess  # noqa: PLC0415  only where calls are counted

    send = _NodeProcess.send

    def counted(self: object, *arguments: object) -> object:
        crossings[0] += 1
        return send(self, *arguments)  # type: ignore[arg-type]

    _NodeProcess.send = counted  # type: ignore[method-assign, assignment]


def run(arguments: list[str], *, crossings: bool = False, path: Path | None = None) -> tuple[float, str]:
    """Run Python with arguments; CPU seconds of the process and of the Node.js that it started, and what it printed."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"CDK_VALIDATION": "false", "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "1"}
    if crossings:
        environment["COUNT_CROSSINGS"] = "1"
    if path is not None:
        environment["PYTHONPATH"] = str(path)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout
