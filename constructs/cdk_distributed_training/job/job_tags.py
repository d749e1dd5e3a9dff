"""Tags of a job's runs: what `Tags.of(...)` puts on the construct reaches each training job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import aws_cdk as cdk
import jsii

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules import job as rules
from cdk_distributed_training.tokens import known

JOB_TAG = "distributed-training:job"


@jsii.implements(cdk.IStableAnyProducer)
class _Rendered:
    """The tags as the request has them, once all of them are known."""

    def __init__(self, manager: cdk.TagManager) -> None:
        self._manager = manager

    def produce(self) -> list[dict[str, str]]:
        return [{"Key": key, "Value": value} for key, value in sorted(self._manager.tag_values().items())]


def tag_manager(job_name: str, tags: Mapping[str, str]) -> cdk.TagManager:
    """The job's tags: its name, by which its runs are found and paid for, and the user's."""
    manager = cdk.TagManager(cdk.TagType.KEY_VALUE, "AWS::SageMaker::TrainingJob")
    for key, value in {JOB_TAG: job_name, **tags}.items():
        manager.set_tag(key, value)
    return manager


def rendered_tags(manager: cdk.TagManager) -> list[str]:
    """A token for the list, which aspects such as `Tags.of(...)` may still change."""
    return cdk.Token.as_list(cdk.Lazy.any(_Rendered(manager)))


def tag_findings(tags: Mapping[str, str], *, own: int = 1) -> Iterator[Finding]:
    """What is wrong with the user's tags, beside which each run has this library's own."""
    yield from rules.tags({key: value for key, value in tags.items() if known(key) and known(value)}, own=own)
