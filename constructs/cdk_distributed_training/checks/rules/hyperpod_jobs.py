"""Rules about jobs on clusters of SageMaker HyperPod (DT758 and DT759)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from cdk_distributed_training.checks.examples import given
from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.checks.rule import rule

_SLURM = "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ref.html"


@rule(
    "DT758",
    title="A job that does not fit into its group of a cluster",
    why="Slurm or Kubernetes keeps the job waiting for ever.",
    source=_SLURM,
    bad=given(group="workers", count=16, machines=8, types=["ml.p5.48xlarge"], instance_type="ml.p5.48xlarge"),
    good=given(group="workers", count=8, machines=8, types=["ml.p5.48xlarge"], instance_type="ml.p5.48xlarge"),
)
def job_fits(
    group: str, count: float | None, machines: float | None, types: Collection[str], instance_type: str
) -> Iterator[Finding]:
    """DT758: a job's machines against its group's.

    Args:
        group: The group's name.
        count: Machines of the job; None where only deployment knows.
        machines: Machines of the group; None where only deployment knows.
        types: Types that the job is for.
        instance_type: The group's type.
    """
    problems = []
    if count is not None and machines is not None and count > machines:
        problems.append((f"{count:g} machines", f"at most the {machines:g} of group {group!r}"))
    if list(types) != [instance_type]:
        problems.append((" and ".join(types), f"{instance_type}, the type of group {group!r}"))
    for got, allowed in problems:
        yield _job_finding("job.instances", got, allowed)


def unknown_group(group: str, groups: Sequence[str]) -> Iterator[Finding]:
    """DT758: a group that the cluster does not have."""
    yield _job_finding("group", repr(group), " or ".join(map(repr, groups)))


def other_file_system(channel: str) -> Iterator[Finding]:
    """DT758: a channel on a file system that the cluster's nodes do not mount."""
    yield _job_finding(
        "job.channels", f"channel {channel!r} on another file system", "channels of the cluster's file_system, or of S3"
    )


def names_of_pods() -> Iterator[Finding]:
    """DT758: a number of machines that only deployment knows, where the pods' names must be known before."""
    yield _job_finding("job.instances.count", "a number that only deployment knows", "a literal number on EKS")


def _job_finding(prop: str, got: str, allowed: str) -> Finding:
    return Finding(
        rule="DT758",
        prop=prop,
        got=got,
        allowed=allowed,
        fix="name another group, or change one of the two",
        source=_SLURM,
    )


@rule(
    "DT759",
    title="A member of the request that a job on HyperPod leaves out",
    why="What the member asks of SageMaker does not happen; the training itself runs.",
    severity=Severity.WARNING,
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod.html",
    bad=given(members=["ProfilerConfig"]),
    good=given(members=[]),
)
def left_out(members: Collection[str]) -> Iterator[Finding]:
    """DT759: members that SageMaker serves for training jobs only, and the nodes of a cluster do not know."""
    if members:
        yield Finding(
            rule="DT759",
            prop="job",
            got=", ".join(sorted(members)),
            allowed="requests without it: a cluster has no service that would do it",
            fix="leave it out of the job, do it in the script, or acknowledge this",
            severity=Severity.WARNING,
            source="https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod.html",
        )
