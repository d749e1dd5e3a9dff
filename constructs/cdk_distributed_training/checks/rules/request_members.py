"""A request against the API's own model: members, types and limits that no other rule is about (DT330 to DT335)."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from cdk_distributed_training.checks.examples import request
from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.checks.rule import problem, rule
from cdk_distributed_training.checks.subjects.training_request import TrainingRequest
from cdk_distributed_training.checks.template.values import Token
from cdk_distributed_training.checks.template.view import Path
from cdk_distributed_training.data.tables import create_training_job_model
from cdk_distributed_training.request import limits

Shape = Mapping[str, Any]

# members whose size and spelling other rules judge, since constructs ask the same of plain values
_JUDGED_ELSEWHERE: tuple[Path, ...] = (
    ("HyperParameters",),
    ("Environment",),
    ("InputDataConfig",),
    ("InputDataConfig", 0, "ChannelName"),
    ("InputDataConfig", 0, "DataSource", "S3DataSource", "S3Uri"),
    ("InputDataConfig", 0, "DataSource", "FileSystemDataSource", "DirectoryPath"),
    ("InputDataConfig", 0, "DataSource", "FileSystemDataSource", "FileSystemId"),
    ("InputDataConfig", 0, "DataSource", "FileSystemDataSource", "FileSystemAccessMode"),
    ("AlgorithmSpecification", "TrainingImage"),
    ("AlgorithmSpecification", "ContainerEntrypoint"),
    ("AlgorithmSpecification", "ContainerEntrypoint", 0),
    ("AlgorithmSpecification", "ContainerArguments"),
    ("AlgorithmSpecification", "ContainerArguments", 0),
    ("ResourceConfig", "InstanceCount"),
    ("VpcConfig", "SecurityGroupIds"),
)
_TEXT_KINDS: dict[str, Callable[[str], bool]] = {
    "text": lambda _: True,
    "integer": lambda text: re.fullmatch(r"-?\d+(\.0)?", text) is not None,
    "number": lambda text: re.fullmatch(r"-?\d+(\.\d+)?([eE][+-]?\d+)?", text) is not None,
    "boolean": lambda text: text.lower() in ("true", "false"),
}


@rule(
    "DT330",
    on=TrainingRequest,
    severity=Severity.WARNING,
    title="A member that the request does not have",
    why="The API refuses unknown members; a misplaced one is not applied anywhere.",
    source=limits.SOURCE,
    bad=request(StoppingCondition={"MaxRunTimeInSeconds": 86400}),
    good=request(StoppingCondition={"MaxRuntimeInSeconds": 86400}),
)
@rule(
    "DT331",
    on=TrainingRequest,
    title="A required member is missing",
    why="The API refuses the request.",
    source=limits.SOURCE,
    bad=request(OutputDataConfig=None),
    good=request(),
)
@rule(
    "DT332",
    on=TrainingRequest,
    title="A value of the wrong type",
    why="The API refuses the request: every hyperparameter, for one, is text.",
    source=limits.SOURCE,
    bad=request(HyperParameters={"epochs": 10}),
    good=request(HyperParameters={"epochs": "10"}),
)
@rule(
    "DT333",
    on=TrainingRequest,
    severity=Severity.WARNING,
    title="A word that the API does not know",
    why="The API refuses the request, unless the word is newer than these facts.",
    source=limits.SOURCE,
    bad=request(AlgorithmSpecification={"TrainingInputMode": "Files"}),
    good=request(AlgorithmSpecification={"TrainingInputMode": "File"}),
)
@rule(
    "DT334",
    on=TrainingRequest,
    title="Text that does not have the API's form",
    why="The API refuses the request.",
    source=limits.SOURCE,
    bad=request(TrainingJobName="my_job"),
    good=request(TrainingJobName="my-job"),
)
@rule(
    "DT335",
    on=TrainingRequest,
    title="A value outside of the API's limits",
    why="The API refuses the request.",
    source=limits.SOURCE,
    bad=request(RetryStrategy={"MaximumRetryAttempts": 50}, CheckpointConfig={"S3Uri": "s3://amzn-s3-demo-bucket/c"}),
    good=request(RetryStrategy={"MaximumRetryAttempts": 30}, CheckpointConfig={"S3Uri": "s3://amzn-s3-demo-bucket/c"}),
)
def members(job: TrainingRequest) -> Iterator[Finding]:
    """DT330 to DT335: one walk over the request and the model of it."""
    model = dict(create_training_job_model())
    if not job.names_itself:
        model["required"] = [name for name in model["required"] if name != "TrainingJobName"]
    yield from _walk(job.value, model, ())


def _walk(value: Any, shape: Shape, path: Path) -> Iterator[Finding]:
    if isinstance(value, Token) or value is None:
        return
    if "members" in shape:
        yield from _structure(value, shape, path)
    elif "items" in shape:
        yield from _list(value, shape, path)
    elif "keys" in shape:
        yield from _map(value, shape, path)
    else:
        yield from _scalar(value, shape, path)


def _structure(value: Any, shape: Shape, path: Path) -> Iterator[Finding]:
    if not isinstance(value, dict):
        yield _wrong_type(value, "an object", path)
        return
    known = shape["members"]
    for name, item in value.items():
        if name in known:
            yield from _walk(item, known[name], (*path, name))
        else:
            near = difflib.get_close_matches(str(name), known, 1)
            yield problem(
                *path,
                name,
                got=f"the member {name!r}",
                allowed=", ".join(known) if len(known) <= 12 else "members of CreateTrainingJob",
                fix=f"write {near[0]!r}" if near else "move it to where it belongs, or leave it out",
                rule_id="DT330",
            )
    for name in shape["required"]:
        if name not in value:
            yield problem(
                *path, name, got=f"no {name}", allowed="a value, which is required", fix="add it", rule_id="DT331"
            )


def _list(value: Any, shape: Shape, path: Path) -> Iterator[Finding]:
    if not isinstance(value, list):
        yield _wrong_type(value, "a list", path)
        return
    yield from _size(len(value), shape, path, "items")
    for index, item in enumerate(value):
        yield from _walk(item, shape["items"], (*path, index))


def _map(value: Any, shape: Shape, path: Path) -> Iterator[Finding]:
    if not isinstance(value, dict):
        yield _wrong_type(value, "an object", path)
        return
    yield from _size(len(value), shape, path, "entries")
    # sizes of hyperparameters and variables are other rules'
    keys, values = ({}, {"type": "text"}) if _elsewhere(path) else (shape["keys"], shape["values"])
    for key, item in value.items():
        yield from _size(len(str(key)), keys, (*path, key), "characters in the name")
        yield from _walk(item, values, (*path, key))


def _scalar(value: Any, shape: Shape, path: Path) -> Iterator[Finding]:
    kind = str(shape["type"])
    fits_text = isinstance(value, str) and _TEXT_KINDS[kind](value)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not (
        fits_text or (kind == "boolean" and isinstance(value, bool)) or (kind in ("integer", "number") and is_number)
    ):
        yield _wrong_type(
            value, {"integer": "a whole number", "number": "a number", "boolean": "true or false"}.get(kind, kind), path
        )
    elif kind in ("integer", "number"):
        yield from _size(float(value), shape, path, "")
    elif kind == "text":
        yield from _size(len(value), shape, path, "characters")
        yield from _spelling(value, shape, path)


def _spelling(value: str, shape: Shape, path: Path) -> Iterator[Finding]:
    if "enum" in shape and value not in shape["enum"] and not _elsewhere(path):
        near = difflib.get_close_matches(value, shape["enum"], 1, cutoff=0.5)
        yield problem(
            *path,
            got=repr(value),
            allowed=", ".join(shape["enum"]),
            fix=f"write {near[0]!r}" if near else "use one of these",
            rule_id="DT333",
        )
    elif "pattern" in shape and not _elsewhere(path) and not re.fullmatch(shape["pattern"], value):
        shown = repr(value) if len(value) <= 80 else f"{value[:80]!r}…"
        yield problem(
            *path, got=shown, allowed=f"text matching {shape['pattern']}", fix="change the spelling", rule_id="DT334"
        )


def _size(size: float, shape: Shape, path: Path, unit: str) -> Iterator[Finding]:
    low, high = shape.get("min"), shape.get("max")
    if _elsewhere(path) or ((low is None or size >= low) and (high is None or size <= high)):
        return
    bounds = (
        f"{low:,} to {high:,}"
        if low is not None and high is not None
        else (f"at least {low:,}" if high is None else f"at most {high:,}")
    )
    yield problem(
        *path,
        got=f"{size:g} {unit}".strip(),
        allowed=f"{bounds} {unit}".strip(),
        fix="choose a value in that range"
        if not unit
        else "shorten it"
        if high is not None and size > high
        else "add some",
        rule_id="DT335",
    )


def _wrong_type(value: Any, wanted: str, path: Path) -> Finding:
    names = {dict: "an object", list: "a list", str: "text", bool: "a boolean"}
    got = f"{names.get(type(value), 'a number')}: {value!r}"
    return problem(
        *path,
        got=got if len(got) <= 80 else f"{got[:80]}…",
        allowed=wanted,
        fix="put it in quotes" if wanted == "text" and not isinstance(value, (dict, list)) else f"write {wanted}",
        rule_id="DT332",
    )


def _elsewhere(path: Path) -> bool:
    return tuple(0 if isinstance(key, int) else key for key in path) in _JUDGED_ELSEWHERE
