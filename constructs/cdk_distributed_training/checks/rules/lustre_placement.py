"""Where a job is and where its file system is (DT132 to DT134)."""

from __future__ import annotations

from collections.abc import Iterator

from cdk_distributed_training.checks.examples import (
    Example,
    file_system,
    group,
    in_vpc,
    lustre_job,
    subnet_in,
    template,
)
from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.checks.rule import problem, rule
from cdk_distributed_training.checks.subjects.lustre_client import LustreClient
from cdk_distributed_training.checks.subjects.subnets import of_ids, zone_words
from cdk_distributed_training.checks.template.values import differ
from cdk_distributed_training.checks.template.view import values

_CHANNEL = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_FileSystemDataSource.html"


def _lustre_on(job_subnets: list[str], *, vpc: str = "vpc-0123456789abcdef0", zone: str = "us-east-1a") -> Example:
    """A file system on the subnet A, and a job."""
    return template(
        {
            "A": subnet_in("us-east-1a"),
            "B": subnet_in(zone, "10.0.16.0/20", vpc),
            "Nodes": group(),
            "FileSystem": file_system(SubnetIds=[{"Ref": "A"}]),
            "Job": lustre_job(VpcConfig=in_vpc(["Nodes"], [{"Ref": name} for name in job_subnets])),
        }
    )


@rule(
    "DT132",
    on=LustreClient,
    severity=Severity.WARNING,
    title="A file system in another zone than its job",
    why="It works for one instance, more slowly, and every byte between zones is billed.",
    source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html",
    bad=_lustre_on(["B"], zone="us-east-1b"),
    good=_lustre_on(["B"]),
)
def same_zone(client: LustreClient) -> Iterator[Finding]:
    """DT132: nodes and data belong into one zone."""
    graph = client.request.graph
    own = {zone_words(subnet.zone) for subnet in of_ids(graph, values(client.file_system.view, "SubnetIds"))}
    jobs = {zone_words(subnet.zone) for subnet in of_ids(graph, client.nodes.subnet_ids)}
    if own and jobs and not own & jobs:
        yield problem(
            "VpcConfig",
            "Subnets",
            got=f"a job in {' and '.join(sorted(jobs))}, a file system in {' and '.join(sorted(own))}",
            allowed="one zone for both",
            fix="give the job the file system's subnet",
        )


@rule(
    "DT133",
    on=LustreClient,
    severity=Severity.WARNING,
    title="A job that may start in another subnet than its file system",
    why="SageMaker may use any of the subnets: from those in other zones every byte is billed, and EFA nodes fail.",
    source=_CHANNEL,
    bad=_lustre_on(["A", "B"]),
    good=_lustre_on(["A"]),
)
def only_its_subnet(client: LustreClient) -> Iterator[Finding]:
    """DT133: the job gets the file system's subnet and no other."""
    subnets = client.nodes.subnet_ids
    own = values(client.file_system.view, "SubnetIds")
    if len(subnets) > 1 and any(subnet in own for subnet in subnets):
        yield problem(
            "VpcConfig",
            "Subnets",
            got=f"{len(subnets)} subnets, of which one is the file system's",
            allowed="the file system's subnet alone",
            fix="leave out the others",
        )


@rule(
    "DT134",
    on=LustreClient,
    severity=Severity.WARNING,
    title="A file system in another VPC than its job",
    why="The job cannot mount it, unless the two VPCs are connected and routed.",
    source=_CHANNEL,
    bad=_lustre_on(["B"], vpc="vpc-0fedcba9876543210"),
    good=_lustre_on(["B"]),
)
def same_vpc(client: LustreClient) -> Iterator[Finding]:
    """DT134: both VPCs are known, and differ."""
    graph = client.request.graph
    own = [subnet.vpc for subnet in of_ids(graph, values(client.file_system.view, "SubnetIds"))]
    jobs = [subnet.vpc for subnet in of_ids(graph, client.nodes.subnet_ids)]
    if own and jobs and all(differ(vpc, other) for vpc in jobs for other in own):
        yield problem(
            "VpcConfig",
            "Subnets",
            got="subnets of another VPC than the file system's",
            allowed="the file system's VPC",
            fix="give the job the file system's subnet",
        )
