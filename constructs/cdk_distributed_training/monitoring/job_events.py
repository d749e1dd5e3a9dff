"""Events of a job's runs."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import aws_events as events
from constructs import Construct


def on_training_job_state_change(
    scope: Construct,
    id: str,
    *,
    job_name: str,
    target: events.IRuleTarget | None = None,
    statuses: Sequence[str] = (),
) -> events.Rule:
    """A rule for SageMaker's own events about the training jobs of which the names begin with a job's name.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/automating-sagemaker-with-eventbridge.html

    Args:
        scope: The parent construct.
        id: The construct id.
        job_name: The job's own name.
        target: Where the events go; add more with the rule's `add_target`.
        statuses: Only these, such as `Completed`, `Failed` or `Stopped`; all unless given.
    """
    detail: dict[str, object] = {"TrainingJobName": [{"prefix": f"{job_name}-"}]}
    if statuses:
        detail["TrainingJobStatus"] = list(statuses)
    pattern = events.EventPattern(
        source=["aws.sagemaker"], detail_type=["SageMaker Training Job State Change"], detail=detail
    )
    return events.Rule(scope, id, event_pattern=pattern, targets=[] if target is None else [target])
