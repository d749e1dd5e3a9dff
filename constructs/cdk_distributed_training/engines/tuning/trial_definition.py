"""A job's request as the definition of a tuning job's trials."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules import tuning as rules
from cdk_distributed_training.engines.expressible_members import inexpressible
from cdk_distributed_training.request.launcher_arguments import ARGUMENTS_VARIABLE

# Members of HyperParameterTrainingJobDefinition by the names that CreateTrainingJob has for them, and what the call has
# besides; a test compares them with botocore's model:
# https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_HyperParameterTrainingJobDefinition.html
_SOURCE = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_HyperParameterTrainingJobDefinition.html"
ALGORITHM_MEMBERS = ("AlgorithmName", "MetricDefinitions", "TrainingImage", "TrainingInputMode")
MEMBERS: Mapping[str, Collection[str] | None] = {
    # its entry point is refused by a rule of its own; its arguments go into the environment; and whether metrics are
    # kept as a series is no choice in tuning, which reads them for its objective
    "AlgorithmSpecification": (
        *ALGORITHM_MEMBERS,
        "ContainerArguments",
        "ContainerEntrypoint",
        "EnableSageMakerMetricsTimeSeries",
    ),
    "CheckpointConfig": None,
    "EnableInterContainerTrafficEncryption": None,
    "EnableManagedSpotTraining": None,
    "EnableNetworkIsolation": None,
    "Environment": None,
    "HyperParameters": None,
    "InputDataConfig": None,
    "OutputDataConfig": None,
    "ResourceConfig": None,
    "RetryStrategy": None,
    "RoleArn": None,
    "StoppingCondition": None,
    "Tags": None,
    "VpcConfig": None,
}


def request_findings(request: Mapping[str, Any], metric: str) -> Iterator[Finding]:
    """What of a job's request no trial can have, or lacks.

    Args:
        request: The `CreateTrainingJob` request without a name.
        metric: The objective's metric.
    """
    yield from inexpressible(request, engine="a tuning job", members=MEMBERS, source=_SOURCE)
    algorithm = request.get("AlgorithmSpecification", {})
    yield from rules.launcher_in_image("ContainerEntrypoint" in algorithm)
    yield from rules.objective(metric, [defined["Name"] for defined in algorithm.get("MetricDefinitions", [])])
    yield from rules.shared_checkpoints("CheckpointConfig" in request)


def trial_definition(
    request: Mapping[str, Any], *, as_json: Callable[[Sequence[str]], str], checkpoint_uri: str
) -> dict[str, Any]:
    """The definition of the trials.

    Args:
        request: The request, of which `HyperParameters` are those that are not tuned.
        as_json: Writes a list as JSON, tokens unharmed.
        checkpoint_uri: The folder for checkpoints, if the request has one.
    """
    algorithm = request.get("AlgorithmSpecification", {})
    arguments = algorithm.get("ContainerArguments")
    definition = {
        name: value for name, value in request.items() if name in MEMBERS and name not in ("HyperParameters", "Tags")
    }
    definition["AlgorithmSpecification"] = {
        name: value for name, value in algorithm.items() if name in ALGORITHM_MEMBERS
    }
    definition["StaticHyperParameters"] = request.get("HyperParameters", {})
    if arguments:
        definition["Environment"] = {**request.get("Environment", {}), ARGUMENTS_VARIABLE: as_json(arguments)}
    if "CheckpointConfig" in request:
        definition["CheckpointConfig"] = {**request["CheckpointConfig"], "S3Uri": checkpoint_uri}
    return definition
