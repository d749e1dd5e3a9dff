"""Rules about the state machine that runs a job (DT7xx)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from cdk_distributed_training.checks.findings import Finding

EXECUTION_VARIABLE = "TRAINING_EXECUTION_ARN"
EXECUTION_TAG = "distributed-training:execution"
_JSONATA = "https://docs.aws.amazon.com/step-functions/latest/dg/transforming-data.html"


def no_expressions(prop: str, value: object) -> Iterator[Finding]:
    """DT701: text that Step Functions would take for an expression and evaluate."""
    if isinstance(value, str):
        if value.startswith("{%") and value.endswith("%}"):
            yield Finding(
                rule="DT701",
                prop=prop,
                got=repr(value),
                allowed="text that does not begin with {% and end with %}, which Step Functions evaluates",
                fix="put a space before it, or bring it in a file of the source folder",
                source=_JSONATA,
            )
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from no_expressions(f"{prop}[{name!r}]", item)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from no_expressions(f"{prop}[{index}]", item)


def reserved_variable(environment: Mapping[str, str]) -> Iterator[Finding]:
    """DT702: an environment variable that the state machine sets itself."""
    if EXECUTION_VARIABLE in environment:
        yield Finding(
            rule="DT702",
            prop="environment",
            got=f"the name {EXECUTION_VARIABLE!r}",
            allowed="any other name: this one carries the ARN of the execution that started the job",
            fix="rename it",
        )


def poll_interval(seconds: float) -> Iterator[Finding]:
    """DT703: a time between two looks that Step Functions cannot wait."""
    if not (seconds >= 1 and seconds == int(seconds)):
        yield Finding(
            rule="DT703",
            prop="poll_interval",
            got=f"{seconds} seconds",
            allowed="whole seconds, at least 1",
            fix="leave it out for 30 seconds",
            source="https://docs.aws.amazon.com/step-functions/latest/dg/state-wait.html",
        )


def integration(name: object) -> Iterator[Finding]:
    """DT705: no way of starting a job."""
    if name not in ("sdk", "optimized"):
        yield Finding(
            rule="DT705",
            prop="integration",
            got=repr(name),
            allowed="'sdk' or 'optimized'",
            fix="leave it out to call the API itself",
        )


def optimized_members(request: Mapping[str, object], known_members: Collection[str]) -> Iterator[Finding]:
    """DT704: members that Step Functions' optimized integration is not known to take.

    Args:
        request: The request, as it is to be sent.
        known_members: Members with evidence, such as `Tags.Key`.
    """
    # a token in place of a structure will have the members that the structure is known for
    structures = {member.rpartition(".")[0] for member in known_members}
    for member in sorted(set(_members(request, "", known_members)) - set(known_members) - structures):
        yield Finding(
            rule="DT704",
            prop="integration",
            got=f"'optimized' with {member} in the request",
            allowed="members for which it is known that createTrainingJob.sync takes them: Step Functions refuses "
            "others when the state machine is made",
            fix="leave integration out, which calls the API itself and takes every member",
            source="https://docs.aws.amazon.com/step-functions/latest/dg/connect-sagemaker.html",
        )


def _members(value: object, place: str, leaves: Collection[str]) -> Iterator[str]:
    if isinstance(value, Mapping) and place not in leaves:
        for name, item in value.items():
            yield from _members(item, f"{place}.{name}" if place else name, leaves)
    elif isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        for item in value:
            yield from _members(item, place, leaves)
    elif place:
        yield place
