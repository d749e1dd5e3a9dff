"""Names of the jobs that share an account and a region, where one job's runs could be taken for another's."""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

import aws_cdk as cdk
from constructs import IConstruct

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules import job as rules
from cdk_distributed_training.enclosing_stack import EnclosingStack, enclosing_stack
from cdk_distributed_training.tokens import known

Jobs = dict[str, IConstruct]
_PLACES: WeakKeyDictionary[IConstruct, dict[tuple[str | None, ...], Jobs]] = WeakKeyDictionary()
_BESIDE: WeakKeyDictionary[EnclosingStack, Jobs] = WeakKeyDictionary()


def shared_names(job: IConstruct, name: str) -> Iterator[Finding]:
    """What is wrong with a job's name beside the names of the app's jobs so far, which it joins; no token is judged."""
    if known(name):
        others = _jobs_beside(job)
        for other in [one for one in others if rules.share_runs(name, one)]:
            yield from rules.shared_job_name(name, other=other, owner=others[other].node.path)
        others.setdefault(name, job)


def _jobs_beside(job: IConstruct) -> Jobs:
    """The jobs of all stacks that are deployed to the same place, as far as that is known."""
    stack = enclosing_stack(job)
    if stack not in _BESIDE:
        place: tuple[str | None, ...] = (stack.account, stack.region)
        if not known(place):
            # of one stage, stacks that do not say where they are deployed are deployed with the same credentials
            stage = cdk.Stage.of(job)
            place = (None if stage is None else stage.node.path, *(part if known(part) else None for part in place))
        _BESIDE[stack] = _PLACES.setdefault(job.node.root, {}).setdefault(place, {})
    return _BESIDE[stack]
