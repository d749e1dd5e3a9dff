"""Tags of a job's runs: what `Tags.of(...)` puts on the construct reaches each training job."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping

import aws_cdk as cdk
import jsii
from constructs import IValidation

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules import job as rules
from cdk_distributed_training.enclosing_stack import EnclosingStack
from cdk_distributed_training.tokens import known

JOB_TAG = "distributed-training:job"


def tag_manager(job_name: str, tags: Mapping[str, str], *, of_stack: Mapping[str, str]) -> cdk.TagManager:
    """The job's tags: its stack's, its name, by which its runs are found and paid for, and the user's."""
    manager = cdk.TagManager(cdk.TagType.KEY_VALUE, "AWS::SageMaker::TrainingJob")
    for key, value in {**of_stack, JOB_TAG: job_name, **tags}.items():
        manager.set_tag(key, value)
    return manager


def rendered_tags(manager: cdk.TagManager, *, where: str, stack: EnclosingStack, own: int = 1) -> list[str]:
    """A token for the list, which aspects such as `Tags.of(...)` may still change.

    Args:
        manager: The job's tags.
        where: The job's name.
        stack: The job's stack, which judges the tags once all of them are known.
        own: How many of this library's own each run has.
    """
    tags = _Rendered(manager, where=where, own=own)
    _tags_of(stack).jobs.append(tags)
    return cdk.Token.as_list(cdk.Lazy.uncached_any(tags))


@jsii.implements(cdk.IAnyProducer)
class _Rendered:
    """The tags as the request has them at the moment; for good once they have been judged."""

    def __init__(self, manager: cdk.TagManager, *, where: str, own: int) -> None:
        self._manager = manager
        self._where = where
        self._own = own
        self._settled: Mapping[str, str] | None = None

    def produce(self, context: cdk.IResolveContext) -> list[dict[str, str]]:
        del context
        tags = self._manager.tag_values() if self._settled is None else self._settled
        return [{"Key": key, "Value": value} for key, value in sorted(tags.items())]

    def settle(self) -> list[str]:
        """What the API would refuse of them, now that no aspect changes them any more."""
        self._settled = tags = self._manager.tag_values()
        others = {key: value for key, value in tags.items() if key != JOB_TAG}
        return [f"{self._where}: {finding}" for finding in tag_findings(others, own=self._own)]


@functools.cache
def _tags_of(stack: EnclosingStack) -> _TagsOfStack:
    validation = _TagsOfStack()
    stack.add_validation(validation)
    return validation


@jsii.implements(IValidation)
class _TagsOfStack:
    """Runs once for a stack, after all aspects."""

    def __init__(self) -> None:
        self.jobs: list[_Rendered] = []

    def validate(self) -> list[str]:
        return [text for job in self.jobs for text in job.settle()]


def tag_findings(tags: Mapping[str, str], *, own: int = 1) -> Iterator[Finding]:
    """What is wrong with the user's tags, beside which each run has this library's own."""
    yield from rules.tags({key: value for key, value in tags.items() if known(key) and known(value)}, own=own)
