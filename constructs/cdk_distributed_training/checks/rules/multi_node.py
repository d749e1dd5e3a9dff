"""Rules about jobs on machines of one's own by AWS Batch (DT770 to DT773)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cdk_distributed_training.checks.examples import given
from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.checks.rule import rule

_JOBS = "https://docs.aws.amazon.com/batch/latest/userguide/multi-node-parallel-jobs.html"
_DEFINITION = "https://docs.aws.amazon.com/batch/latest/APIReference/API_ContainerProperties.html"
_MACHINES = "https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html"
_PRIVATE = "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/vpc-endpoints.html"


@rule(
    "DT770",
    title="A channel that nobody brings into a container of AWS Batch",
    why="SageMaker streams, shards and decompresses data; on machines of one's own only files are copied or mounted.",
    source=_JOBS,
    bad=given(name="train", problem="the input mode FastFile"),
)
def no_channel(name: str, problem: str) -> Iterator[Finding]:
    """DT770: what of a channel only SageMaker can do.

    Args:
        name: The channel.
        problem: What it asks for.
    """
    yield Finding(
        rule="DT770",
        prop=f"job.channels[{name!r}]",
        got=problem,
        allowed="an S3 prefix that every host gets as files (input mode File), or a directory of FSx for Lustre",
        fix="take a channel of an FSx for Lustre file system, or one of these, or start the job by its own state "
        "machine",
        source=_JOBS,
    )


@rule(
    "DT771",
    title="Machines that a multi-node parallel job cannot have",
    why="The container would get no accelerators or no network, or the compute environment is refused.",
    source=_MACHINES,
    bad=given(got="ml.trn1.32xlarge", allowed="an instance type with GPUs, or with none"),
)
def machines(got: str, allowed: str) -> Iterator[Finding]:
    """DT771: an instance type, or a number of machines, that the engine has no facts for.

    Args:
        got: What was given.
        allowed: What would be right.
    """
    yield Finding(
        rule="DT771",
        prop="job.instances",
        got=got,
        allowed=allowed,
        fix="take such machines, or start the job by its own state machine",
        source=_MACHINES,
    )


@rule(
    "DT772",
    title="An image with the launcher for its entry point, in AWS Batch",
    why="AWS Batch cannot replace an image's entry point, and the launcher would start before its input is there.",
    source=_DEFINITION,
    bad=given(has_entrypoint=False),
    good=given(has_entrypoint=True),
)
def launcher_by_channel(has_entrypoint: bool) -> Iterator[Finding]:
    """DT772: an image that nothing can run in before the launcher."""
    if not has_entrypoint:
        yield Finding(
            rule="DT772",
            prop="job.image",
            got="an image with the launcher for its entry point",
            allowed="an image whose entry point runs what it is given, such as AWS's deep learning containers: the "
            "launcher comes by its channel",
            fix="take such an image, or start the job by its own state machine",
            source=_DEFINITION,
        )


@rule(
    "DT773",
    title="A closed subnet from which machines cannot reach Amazon ECS",
    why="The machines start, cost money and never take the job: it stays RUNNABLE.",
    severity=Severity.WARNING,
    source=_PRIVATE,
    bad=given(missing=["ecs-agent"]),
    good=given(missing=[]),
)
def ecs_within_reach(missing: Sequence[str]) -> Iterator[Finding]:
    """DT773: endpoints that a subnet without a way out lacks.

    Args:
        missing: Short names of the services.
    """
    if missing:
        yield Finding(
            rule="DT773",
            prop="job.network",
            got=f"a subnet without a way out, in which this app has no endpoint for {', '.join(missing)}",
            allowed="endpoints for ecs, ecs-agent, ecs-telemetry, ecr.api, ecr.dkr and logs",
            fix="call network.add_calls(TrainingCall.ECS, TrainingCall.IMAGES, TrainingCall.LOGS) before this, or "
            "acknowledge this if the VPC has them",
            severity=Severity.WARNING,
            source=_PRIVATE,
        )
