"""A job's request as one execution sends it: with its overrides, and its ARN, by which its jobs are found again.

In every state machine, the variable `$defaults` has the job's own values, and `$overrides` those of the execution.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cdk_distributed_training.checks.rules.state_machine import EXECUTION_TAG, EXECUTION_VARIABLE
from cdk_distributed_training.engines.job_expressions import execution_mark, expression, overrides
from cdk_distributed_training.request.override import overridable, override

EXECUTION_ARN = "$states.context.Execution.Id"
EXECUTION_NAME = "$states.context.Execution.Name"


def own_count(request: Mapping[str, Any]) -> dict[str, Any]:
    """The number of machines for `$defaults`, where there is one that an execution may override.

    Args:
        request: The `CreateTrainingJob` request without a name.
    """
    counted = "instance_count" in overridable(request)
    return {"instance_count": request["ResourceConfig"]["InstanceCount"]} if counted else {}


def own_tags(request: Mapping[str, Any]) -> dict[str, Any]:
    """The tags for `$defaults`, where each execution adds a mark of its own to them.

    Args:
        request: The `CreateTrainingJob` request without a name.
    """
    return {"tags": request.get("Tags", [])} if is_serverless(request) else {}


def run_overrides(request: Mapping[str, Any]) -> str:
    """The value of `$overrides`, or an error that names all that is wrong with the execution's input.

    Args:
        request: The `CreateTrainingJob` request without a name.
    """
    return expression(overrides("$defaults", "$states.input", members=overridable(request)))


def run_request(request: Mapping[str, Any], *, name: str | None = None) -> dict[str, Any]:
    """The request of one execution, for which `$defaults` has `own_count` and `own_tags`.

    Args:
        request: The `CreateTrainingJob` request without a name.
        name: JSONata for the training job's name; without one unless given.
    """
    changed = override(
        request,
        name=None if name is None else expression(name),
        instance_count=expression("$overrides.instance_count") if own_count(request) else None,
        hyperparameters=expression("$overrides.hyperparameters"),
    )
    if own_tags(request):
        # it has no environment
        mark = f'{{"Key": "{EXECUTION_TAG}", "Value": {execution_mark(EXECUTION_ARN)}}}'
        return {**changed, "Tags": expression(f"$append($defaults.tags, [{mark}])")}
    return with_variable(changed, expression(EXECUTION_ARN))


def with_variable(request: Mapping[str, Any], arn: Any) -> dict[str, Any]:
    """A request of which the container finds the ARN of its execution in its environment.

    Args:
        request: The request.
        arn: The ARN, as the engine spells what it knows only when it runs.
    """
    return {**request, "Environment": {**request.get("Environment", {}), EXECUTION_VARIABLE: arn}}


def is_serverless(request: Mapping[str, Any]) -> bool:
    """Whether SageMaker runs the job by a script of its own, which has no environment to carry anything."""
    return "ServerlessJobConfig" in request
