"""Rules about a training job's own properties (DT310 to DT329)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.request import job_name as names
from cdk_distributed_training.request import limits

_STOPPING = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_StoppingCondition.html"


def job_name(prefix: str) -> Iterator[Finding]:
    """DT310: a name that no training job's name can begin with."""
    if not re.fullmatch(names.PREFIX_PATTERN, prefix) or len(prefix) > names.LONGEST_PREFIX:
        suggestion = names.legal_prefix(prefix)
        yield Finding(
            rule="DT310",
            prop="job_name",
            got=repr(prefix),
            allowed=f"lower-case letters, digits and single hyphens, at most {names.LONGEST_PREFIX} characters",
            fix=f"use {suggestion!r}" if suggestion else "leave it out to name the job by its construct path",
            source=limits.SOURCE,
        )


def share_runs(name: str, other: str) -> bool:
    """Whether runs of one of two jobs are found by the other's name."""
    shorter, longer = sorted((name, other), key=len)
    return f"{longer}-".startswith(f"{shorter}-")


def shared_job_name(name: str, *, other: str, owner: str) -> Iterator[Finding]:
    """DT315 (warning): a name by which runs of another job in the account and region are found too.

    Args:
        name: The job's name.
        other: Another job's name.
        owner: Path of that job.
    """
    if share_runs(name, other):
        shorter = min(name, other, key=len)
        yield Finding(
            rule="DT315",
            prop="job_name",
            got=f"{name!r}, beside {other!r} of {owner}",
            allowed=f"beside {shorter!r} no other of that name, and none that begins with '{shorter}-': permissions, "
            "events, metrics and S3 folders of its runs are found by it",
            fix="give one of the jobs another job_name",
            severity=Severity.WARNING,
            source=limits.SOURCE,
        )


def max_runtime(seconds: float) -> Iterator[Finding]:
    """DT311: a time limit outside of what SageMaker knows."""
    if not 1 <= seconds <= limits.LONGEST_RUNTIME_SECONDS or seconds != int(seconds):
        yield Finding(
            rule="DT311",
            prop="max_runtime",
            got=f"{seconds} seconds",
            allowed="whole seconds, from 1 second to 28 days",
            fix="save checkpoints and continue in another run if 28 days are too short",
            source=_STOPPING,
        )


def max_wait(wait_seconds: float, runtime_seconds: float) -> Iterator[Finding]:
    """DT312: spare capacity that is waited for less than the job may run."""
    if wait_seconds < runtime_seconds or wait_seconds != int(wait_seconds):
        yield Finding(
            rule="DT312",
            prop="spot.max_wait",
            got=f"{wait_seconds} seconds",
            allowed=f"whole seconds, at least max_runtime, {runtime_seconds} seconds: waiting and running together",
            fix="raise max_wait or lower max_runtime",
            source=_STOPPING,
        )


def one_network(channels: Mapping[str, str], job_subnet: str | None) -> Iterator[Finding]:
    """DT313: data that the job's network does not reach.

    Args:
        channels: Channel names, each with the subnet in which its data lies.
        job_subnet: Subnet of the network that was given to the job; `None` if none was.
    """
    wanted = sorted(set(channels.values()))
    if job_subnet is None and len(wanted) > 1:
        yield _other_network("channels in " + " and ".join(wanted), "file systems of one network")
    elif job_subnet is not None and wanted not in ([], [job_subnet]):
        elsewhere = sorted(name for name, subnet in channels.items() if subnet != job_subnet)
        yield _other_network(
            f"{job_subnet}, and the channels {', '.join(elsewhere)} elsewhere",
            "the network of every file system that the job reads",
        )


def tags(values: Mapping[str, str], own: int) -> Iterator[Finding]:
    """DT314: tags that the API refuses.

    Args:
        values: The user's tags.
        own: How many more the library sets.
    """
    most = limits.TAGS.most - own
    if len(values) > most:
        yield _tags(f"{len(values)} tags", f"at most {most}, besides {own} of the library's own", "leave some out")
    for key, value in values.items():
        if not 1 <= len(key) <= limits.TAGS.key.longest or key.lower().startswith("aws:"):
            allowed = f"1 to {limits.TAGS.key.longest} characters that do not begin with aws:"
            yield _tags(f"the key {key[:60]!r}", allowed, "rename it")
        if len(value) > limits.TAGS.value.longest:
            allowed = f"values of at most {limits.TAGS.value.longest} characters"
            yield _tags(f"{len(value)} characters for {key[:60]!r}", allowed, "shorten it")


def _tags(got: str, allowed: str, fix: str) -> Finding:
    source = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_Tag.html"
    return Finding(rule="DT314", prop="tags", got=got, allowed=allowed, fix=fix, source=source)


def _other_network(got: str, allowed: str) -> Finding:
    return Finding(
        rule="DT313",
        prop="network",
        got=got,
        allowed=allowed,
        fix="put the file systems and the job on one TrainingNetwork",
        source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_FileSystemDataSource.html",
    )
