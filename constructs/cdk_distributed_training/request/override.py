"""What a single run may change of a job, with the rules and words that the state machine uses too.

`engines/job_expressions.py` says the same in JSONata; one table of cases tests both.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cdk_distributed_training.request.hyperparameters import number_text

MEMBERS = ("hyperparameters", "instance_count")


class ExecutionInputError(ValueError):
    """The input of an execution is refused; the message is the state machine's own."""


@dataclass(frozen=True, kw_only=True)
class ExecutionInput:
    """Valid overrides of one run.

    Attributes:
        instance_count: Number of machines; `None` leaves the job's own.
        hyperparameters: Values that are added to the job's own or replace them.
    """

    instance_count: int | None = None
    hyperparameters: Mapping[str, str] = field(default_factory=dict)


def overridable(request: Mapping[str, Any]) -> tuple[str, ...]:
    """The members that a run of this request may override: groups of machines have no one number."""
    return MEMBERS if "InstanceCount" in request.get("ResourceConfig", {}) else MEMBERS[:1]


def execution_input(value: Any, *, members: Sequence[str] = MEMBERS) -> ExecutionInput:
    """Check the input of an execution, as parsed from JSON.

    Args:
        value: The input.
        members: What it may have; see `overridable`.

    Raises:
        ExecutionInputError: It is not an object, has other members than `hyperparameters` and `instance_count`, or
            a member of the wrong type; the message names all that is wrong.
    """
    if not isinstance(value, dict):
        raise ExecutionInputError(f"execution input must be an object, got {_type_name(value)}")
    problems = list(_problems(value, members))
    if problems:
        raise ExecutionInputError("; ".join(problems))
    count = value.get("instance_count")
    return ExecutionInput(
        instance_count=None if count is None else int(count),
        hyperparameters={name: _text(given) for name, given in value.get("hyperparameters", {}).items()},
    )


def override(
    request: Mapping[str, Any],
    *,
    name: str | None = None,
    instance_count: Any = None,
    hyperparameters: Any = None,
) -> dict[str, Any]:
    """A copy of a request with a name, another number of machines or other hyperparameters.

    Args:
        request: A `CreateTrainingJob` request; it is left as it is.
        name: The new `TrainingJobName`.
        instance_count: The new number of machines; an engine may pass an expression.
        hyperparameters: A mapping is merged over the request's own values; anything else, such as an engine's
            expression, replaces them.
    """
    changed = copy.deepcopy(dict(request))
    if name is not None:
        changed["TrainingJobName"] = name
    if instance_count is not None:
        changed["ResourceConfig"]["InstanceCount"] = instance_count
    if isinstance(hyperparameters, Mapping):
        changed["HyperParameters"] = {**changed.get("HyperParameters", {}), **hyperparameters}
    elif hyperparameters is not None:
        changed["HyperParameters"] = hyperparameters
    return changed


def _problems(value: Mapping[str, Any], members: Sequence[str]) -> Iterator[str]:
    unknown = [name for name in value if name not in members]
    if unknown:
        yield f"unknown execution input: {', '.join(unknown)}"
    hyperparameters = value.get("hyperparameters", {})
    if not isinstance(hyperparameters, dict):
        yield f"hyperparameters must be an object, got {_type_name(hyperparameters)}"
    else:
        for name, given in hyperparameters.items():
            if _type_name(given) not in ("string", "number", "boolean"):
                yield f"hyperparameters.{name} must be a string, number or boolean, got {_type_name(given)}"
            elif not _is_finite(given):
                yield f"hyperparameters.{name} must be a finite number"
    if "instance_count" in value and not _is_count(value["instance_count"]):
        yield f"instance_count must be a whole number >= 1, got {_shown(value['instance_count'])}"


def _is_count(value: Any) -> bool:
    return _type_name(value) == "number" and _is_finite(value) and value == math.floor(value) and value >= 1


def _shown(value: Any) -> str:
    return number_text(value) if _type_name(value) == "number" and _is_finite(value) else _type_name(value)


def _is_finite(value: Any) -> bool:
    """Whether a number is one in double precision too; what is no number passes."""
    if _type_name(value) != "number":
        return True
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _text(value: str | float) -> str:
    if isinstance(value, str):
        return value
    return ("true" if value else "false") if isinstance(value, bool) else number_text(value)


def _type_name(value: Any) -> str:
    """The name that JSONata's `$type` has for a JSON value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, dict) else "array"
