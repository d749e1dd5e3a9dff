"""Rules about the engines that run a job: queue, tuning, pipeline, schedule (DT720 to DT737)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from cdk_distributed_training.checks.examples import given
from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.checks.rule import rule

_SUBMIT = "https://docs.aws.amazon.com/batch/latest/APIReference/API_SubmitServiceJob.html"
_SHARES = "https://docs.aws.amazon.com/batch/latest/userguide/job_scheduling.html"
_TUNING = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_HyperParameterTrainingJobDefinition.html"
_RANGES = "https://docs.aws.amazon.com/sagemaker/latest/dg/automatic-model-tuning-define-ranges.html"
_STEPS = "https://docs.aws.amazon.com/sagemaker/latest/dg/build-and-manage-steps-types.html"
_EVENTS = "https://docs.aws.amazon.com/sagemaker/latest/dg/automating-sagemaker-with-eventbridge.html"
_S3_EVENTS = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/EventBridge.html"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,128}")
_SHARE_IDENTIFIER = re.compile(r"[A-Za-z0-9]{1,255}\*?")


@rule(
    "DT720",
    title="A member of the request that an engine cannot express",
    why="The service would refuse the call, or run another job than the one that was asked for.",
    source=_TUNING,
    bad=given(engine="a tuning job", members={"InputDataConfig": True, "ProfilerConfig": False}, source=_TUNING),
    good=given(engine="a tuning job", members={"InputDataConfig": True}, source=_TUNING),
)
def expressible(engine: str, members: Mapping[str, bool], source: str) -> Iterator[Finding]:
    """DT720: members of the request that an engine has no place for.

    Args:
        engine: The engine, with an article.
        members: Members of the request, such as `ProfilerConfig`, and whether the engine has a place for them.
        source: Where the service says what it takes.
    """
    for member in sorted(name for name, possible in members.items() if not possible):
        yield Finding(
            rule="DT720",
            prop="job",
            got=f"{member} in the request of a job for {engine}",
            allowed=f"requests without it: {engine} has no place for it",
            fix="leave it out of the job, or start the job by its own state machine",
            source=source,
        )


@rule(
    "DT721",
    title="More machines than the queue has",
    why="The job waits in the queue for ever, and with it all behind it where the queue is first in, first out.",
    source="https://docs.aws.amazon.com/batch/latest/userguide/service-environments.html",
    bad=given(count=16, most=8),
    good=given(count=8, most=8),
)
def fits_queue(count: float, most: float) -> Iterator[Finding]:
    """DT721: a job that never fits into its queue."""
    if count > most:
        yield Finding(
            rule="DT721",
            prop="job.instances.count",
            got=f"{count:g}",
            allowed=f"at most the {most:g} machines of the queue",
            fix="raise max_instances of the queue, or take fewer machines",
            source="https://docs.aws.amazon.com/batch/latest/userguide/service-environments.html",
        )


@rule(
    "DT722",
    title="A share that the queue does not know, or none where one is needed",
    why="Batch refuses the job when it is submitted.",
    source=_SUBMIT,
    bad=given(share="speech", names=["vision", "text*"]),
    good=given(share="text1", names=["vision", "text*"]),
)
def share_of_queue(share: str | None, names: Sequence[str]) -> Iterator[Finding]:
    """DT722: a job's share against those of its queue.

    Args:
        share: The job's share.
        names: The shares of the queue; those that end in `*` stand for all that begin so. None for first in, first out.
    """
    fits = any(
        share is not None and (share.startswith(name[:-1]) if name.endswith("*") else share == name) for name in names
    )
    if not fits and (names or share is not None):
        yield Finding(
            rule="DT722",
            prop="share",
            got=repr(share),
            allowed=" or ".join(map(repr, names)) if names else "none: the queue has no shares",
            fix="name one of the queue's shares" if names else "leave it out, or give the queue shares",
            source=_SUBMIT,
        )


@rule(
    "DT723",
    title="A number that the service does not take",
    why="The service refuses it when the stack is deployed or the job is started.",
    source=_SUBMIT,
    bad=given(prop="attempts", value=11, low=1, high=10, source=_SUBMIT),
    good=given(prop="attempts", value=10, low=1, high=10, source=_SUBMIT),
)
def in_range(prop: str, value: float, low: float, high: float, source: str, *, whole: bool = True) -> Iterator[Finding]:
    """DT723: a number out of its range, or with a fraction where it has none."""
    if not low <= value <= high or (whole and value != int(value)):
        yield Finding(
            rule="DT723",
            prop=prop,
            got=f"{value:g}",
            allowed=f"{'whole numbers ' if whole else ''}from {low:g} to {high:g}",
            fix="take one of these",
            source=source,
        )


@rule(
    "DT724",
    title="Shares of a queue that do not go together",
    why="CloudFormation fails when it makes the scheduling policy.",
    source=_SHARES,
    bad=given(fair=["speech*", "speech1"], quota=[]),
    good=given(fair=["speech*", "vision"], quota=[]),
)
def shares(fair: Sequence[str], quota: Sequence[str]) -> Iterator[Finding]:
    """DT724: names of shares, each legal, none twice, and of one kind.

    Args:
        fair: Identifiers of fair shares.
        quota: Names of quota shares.
    """
    names, pattern = (quota, _NAME) if quota else (fair, _SHARE_IDENTIFIER)
    problems = ["fair shares and quota shares"] if fair and quota else []
    problems += [repr(name) for name in names if not pattern.fullmatch(name)]
    problems += [
        f"{one!r} and {other!r}"
        for place, one in enumerate(names)
        for other in names[place + 1 :]
        if _overlap(one, other)
    ]
    for problem in problems:
        yield Finding(
            rule="DT724",
            prop="shares",
            got=problem,
            allowed="shares of one kind that do not overlap; fair ones of letters and digits, perhaps with a * at the "
            "end, quota ones also with - and _, at most 128 characters",
            fix="rename or remove one",
            source=_SHARES,
        )


def _overlap(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    return (
        shorter == longer
        or (shorter.endswith("*") and longer.startswith(shorter[:-1]))
        or (longer.endswith("*") and shorter.startswith(longer[:-1]))
    )


@rule(
    "DT725",
    title="A pattern of reasons that Batch does not take",
    why="Batch refuses the job when it is submitted.",
    source="https://docs.aws.amazon.com/batch/latest/userguide/service-job-retries.html",
    bad=given(pattern=""),
    good=given(pattern="*InternalServerError*"),
)
def reason_pattern(pattern: str) -> Iterator[Finding]:
    """DT725: a glob over the reason for a service job's end."""
    if not re.fullmatch(r"[ -~]{1,512}", pattern):
        yield Finding(
            rule="DT725",
            prop="attempt_rules.reason",
            got=repr(pattern),
            allowed="1 to 512 printable characters, in which * stands for any",
            fix="write such a pattern",
            source="https://docs.aws.amazon.com/batch/latest/userguide/service-job-retries.html",
        )


@rule(
    "DT730",
    title="A tuning job's objective is no metric of the job",
    why="SageMaker refuses the tuning job when it is started: it would read the metric nowhere.",
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/automatic-model-tuning-define-metrics-variables.html",
    bad=given(metric="accuracy", defined=["loss"]),
    good=given(metric="loss", defined=["loss"]),
)
def objective(metric: str, defined: Collection[str]) -> Iterator[Finding]:
    """DT730: an objective that no metric definition reads."""
    if metric not in defined:
        yield Finding(
            rule="DT730",
            prop="objective.metric",
            got=repr(metric),
            allowed=" or ".join(map(repr, defined)) or "a metric of the job, which has none",
            fix="add a MetricDefinition of that name to the job's metric_definitions",
            source="https://docs.aws.amazon.com/sagemaker/latest/dg/automatic-model-tuning-define-metrics-variables.html",
        )


@rule(
    "DT731",
    title="A tuning job whose trials would run without the launcher",
    why="SageMaker's tuning jobs have no place for a container's entry point: every trial would run the image's own.",
    source=_TUNING,
    bad=given(has_entrypoint=True),
    good=given(has_entrypoint=False),
)
def launcher_in_image(has_entrypoint: bool) -> Iterator[Finding]:
    """DT731: a launcher that comes by a channel, and is started by an entry point."""
    if has_entrypoint:
        yield Finding(
            rule="DT731",
            prop="job.image",
            got="an image that the launcher comes into by a channel",
            allowed="an image with the launcher for its entry point: a tuning job cannot set one",
            fix="build one with TrainingImage.with_launcher, or name one with launcher_inside=True",
            source=_TUNING,
        )


@rule(
    "DT732",
    title="A range in which there is nothing to tune",
    why="SageMaker refuses the tuning job when it is started.",
    source=_RANGES,
    bad=given(name="lr", problem="from 1 to 0", allowed="an upper bound above the lower one"),
)
def no_range(name: str, problem: str, allowed: str) -> Iterator[Finding]:
    """DT732: what is wrong with a range, as the range itself says.

    Args:
        name: The hyperparameter.
        problem: What was given.
        allowed: What would be right.
    """
    yield Finding(
        rule="DT732",
        prop=f"ranges[{name!r}]",
        got=problem,
        allowed=allowed,
        fix="change the range",
        source=_RANGES,
    )


@rule(
    "DT733",
    title="Trials of a tuning job have one folder for checkpoints",
    why="A trial that starts from another's checkpoint, with other hyperparameters, makes the comparison worthless.",
    severity=Severity.WARNING,
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/model-checkpoints.html",
    bad=given(has_checkpoints=True),
    good=given(has_checkpoints=False),
)
def shared_checkpoints(has_checkpoints: bool) -> Iterator[Finding]:
    """DT733: checkpoints whose folder may be the same for all trials of a run."""
    if has_checkpoints:
        yield Finding(
            rule="DT733",
            prop="job.checkpoint",
            got="one S3 folder for all trials of a tuning run",
            allowed="a folder below it for each trial",
            fix="let the script write and look for checkpoints in a folder that is named by the variable "
            "TRAINING_JOB_NAME, and acknowledge this",
            severity=Severity.WARNING,
            source="https://docs.aws.amazon.com/sagemaker/latest/dg/model-checkpoints.html",
        )


@rule(
    "DT734",
    title="A hyperparameter that cannot be a parameter of a pipeline",
    why="SageMaker refuses the pipeline, or a start of it that names the parameter.",
    source=_STEPS,
    bad=given(names=["lr"], defined=["epochs"]),
    good=given(names=["epochs"], defined=["epochs"]),
)
def pipeline_parameters(names: Sequence[str], defined: Collection[str]) -> Iterator[Finding]:
    """DT734: parameters that are no hyperparameters of the job, or that no pipeline can name."""
    for name in names:
        if name not in defined or not re.fullmatch(r"[A-Za-z0-9_-]{1,256}", name) or name == "InstanceCount":
            yield Finding(
                rule="DT734",
                prop="parameters",
                got=repr(name),
                allowed="hyperparameters of the job with names of letters, digits, - and _, other than InstanceCount",
                fix="give the job the hyperparameter, with the value that it has where nobody sets another",
                source=_STEPS,
            )


@rule(
    "DT735",
    title="A status that the service which runs the job does not tell of",
    why="The rule would never match: no event comes, and nobody notices.",
    source=_EVENTS,
    bad=given(statuses=["Completed", "Stopping"], told=["InProgress", "Completed", "Failed", "Stopped"]),
    good=given(statuses=["Completed"], told=["InProgress", "Completed", "Failed", "Stopped"]),
)
def told_statuses(statuses: Sequence[str], told: Sequence[str]) -> Iterator[Finding]:
    """DT735: statuses in `on_state_change` of an engine, against those that its service has a word for."""
    for status in statuses:
        if status not in told:
            yield Finding(
                rule="DT735",
                prop="statuses",
                got=repr(status),
                allowed=", ".join(told),
                fix="leave it out: runs of this engine never tell it",
                source=_EVENTS,
            )


@rule(
    "DT736",
    title="Starts on new data without one place of new data",
    why="The events of one bucket start runs: with none nothing does, and of two one would be forgotten.",
    source=_S3_EVENTS,
    bad=given(bucket=True, repository=True),
    good=given(bucket=False, repository=True),
)
def one_place_of_data(*, bucket: bool, repository: bool) -> Iterator[Finding]:
    """DT736: a bucket or a data repository.

    Args:
        bucket: Whether `bucket` is given.
        repository: Whether `repository` is given.
    """
    if bucket == repository:
        yield Finding(
            rule="DT736",
            prop="bucket, repository",
            got="both" if bucket else "neither",
            allowed="one of them",
            fix="give bucket for objects in S3, or repository for those that a file system imports",
            source=_S3_EVENTS,
        )


@rule(
    "DT737",
    title="Starts on new data that never reaches the file system",
    why="Without automatic import of new objects, the run that they start does not see them.",
    source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/autoimport-data-repo-dra.html",
    bad=given(imports_new=False),
    good=given(imports_new=True),
)
def new_data_arrives(*, imports_new: bool) -> Iterator[Finding]:
    """DT737: the data repository imports what is new.

    Args:
        imports_new: Whether it does.
    """
    if not imports_new:
        yield Finding(
            rule="DT737",
            prop="repository.auto_import",
            got="a data repository that imports no new objects",
            allowed="one with DataRepositoryEvent.NEW",
            fix="leave auto_import of add_data_repository at its default, or add DataRepositoryEvent.NEW to it",
            source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/autoimport-data-repo-dra.html",
        )
