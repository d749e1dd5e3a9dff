"""Rules about tuning jobs (DT730 to DT733)."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from cdk_distributed_training.checks.examples import given
from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.checks.rule import rule

_TUNING = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_HyperParameterTrainingJobDefinition.html"
_RANGES = "https://docs.aws.amazon.com/sagemaker/latest/dg/automatic-model-tuning-define-ranges.html"


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
