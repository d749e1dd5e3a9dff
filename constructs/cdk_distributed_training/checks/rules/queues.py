"""Rules about queues of AWS Batch for training jobs, and jobs in them (DT721, DT722, DT724, DT725)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cdk_distributed_training.checks.examples import given
from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rule import rule

_SUBMIT = "https://docs.aws.amazon.com/batch/latest/APIReference/API_SubmitServiceJob.html"
_SHARES = "https://docs.aws.amazon.com/batch/latest/userguide/job_scheduling.html"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,128}")
_SHARE_IDENTIFIER = re.compile(r"[A-Za-z0-9]{1,255}\*?")


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
