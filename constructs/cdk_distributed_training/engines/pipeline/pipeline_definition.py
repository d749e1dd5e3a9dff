"""A job's request as a SageMaker pipeline with one step.

Source: https://aws-sagemaker-mlops.github.io/sagemaker-model-building-pipeline-definition-JSON-schema/
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cdk_distributed_training.engines.run_request import own_count, with_variable
from cdk_distributed_training.request.override import override

STEP_NAME = "Train"
COUNT_PARAMETER = "InstanceCount"


def pipeline_definition(
    request: Mapping[str, Any], *, parameters: Sequence[str], retries: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """The definition, in which the number of machines and some hyperparameters are parameters.

    Args:
        request: The `CreateTrainingJob` request without a name; a pipeline makes up the names of its jobs.
        parameters: Names of the hyperparameters that a start may set.
        retries: The step's retry policies, rendered.
    """
    defined = request.get("HyperParameters", {})
    count = own_count(request)
    changed = override(
        request,
        instance_count=_value(COUNT_PARAMETER) if count else None,
        hyperparameters={name: _value(name) for name in parameters},
    )
    arguments = with_variable(changed, {"Get": "Execution.PipelineExecutionArn"})
    if not arguments.get("HyperParameters"):
        arguments.pop("HyperParameters", None)
    listed: list[dict[str, Any]] = [
        {"Name": name, "Type": "String", "DefaultValue": defined[name]} for name in parameters
    ]
    if count:
        listed.insert(0, {"Name": COUNT_PARAMETER, "Type": "Integer", "DefaultValue": count["instance_count"]})
    step: dict[str, Any] = {"Name": STEP_NAME, "Type": "Training", "Arguments": arguments}
    if retries:
        step["RetryPolicies"] = list(retries)
    return {"Version": "2020-12-01", "Metadata": {}, "Parameters": listed, "Steps": [step]}


def _value(parameter: str) -> dict[str, str]:
    return {"Get": f"Parameters.{parameter}"}
