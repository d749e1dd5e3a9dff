"""What of a job's request a multi-node parallel job of AWS Batch has a place for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules import engines as engine_rules
from cdk_distributed_training.checks.rules import multi_node as rules
from cdk_distributed_training.data.tables import InstanceType, instance_types
from cdk_distributed_training.engines.expressible_members import inexpressible
from cdk_distributed_training.tokens import known

_ENGINE = "a multi-node parallel job of AWS Batch"
_SOURCE = "https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html"
_RETRIES = "https://docs.aws.amazon.com/batch/latest/userguide/job_retries.html"
_TIMEOUTS = "https://docs.aws.amazon.com/batch/latest/userguide/job_timeouts.html"
_LARGEST = 2**31 - 1
MEMBERS: Mapping[str, Collection[str] | None] = {
    # whether metrics are kept as a series says nothing where none are defined
    "AlgorithmSpecification": (
        "ContainerArguments",
        "ContainerEntrypoint",
        "EnableSageMakerMetricsTimeSeries",
        "TrainingImage",
        "TrainingInputMode",
    ),
    "Environment": None,
    "HyperParameters": None,
    "InputDataConfig": None,
    "OutputDataConfig": ("CompressionType", "KmsKeyId", "S3OutputPath"),
    "ResourceConfig": ("InstanceCount", "InstanceType", "VolumeSizeInGB"),
    "RetryStrategy": ("MaximumRetryAttempts",),
    "RoleArn": None,
    "StoppingCondition": ("MaxRuntimeInSeconds",),
    "Tags": None,
    "VpcConfig": None,
}
_CHANNEL = ("ChannelName", "CompressionType", "ContentType", "DataSource", "InputMode", "RecordWrapperType")
_FILES = {
    "S3DataType": "S3Prefix",
    "S3DataDistributionType": "FullyReplicated",
    "CompressionType": "None",
    "RecordWrapperType": "None",
    "InputMode": "File",
}


def request_findings(request: Mapping[str, Any]) -> Iterator[Finding]:
    """What of a job's request no multi-node parallel job can have, or lacks.

    Args:
        request: The `CreateTrainingJob` request without a name.
    """
    # what is switched off, or is what happens anyway, says nothing
    said = {name: value for name, value in request.items() if value is not False}
    yield from inexpressible(said, engine=_ENGINE, members=MEMBERS, source=_SOURCE)
    algorithm = request.get("AlgorithmSpecification", {})
    yield from rules.launcher_by_channel("ContainerEntrypoint" in algorithm)
    if request.get("OutputDataConfig", {}).get("CompressionType", "NONE") != "NONE":
        yield from engine_rules.expressible(_ENGINE, {"OutputDataConfig.CompressionType GZIP": False}, _SOURCE)
    # Batch sets these itself: https://docs.aws.amazon.com/batch/latest/userguide/job_env_vars.html
    reserved = {f"Environment.{name}": False for name in request.get("Environment", {}) if name.startswith("AWS_BATCH")}
    yield from engine_rules.expressible(_ENGINE, reserved, _SOURCE)
    for channel in request.get("InputDataConfig", ()):
        mode = channel.get("InputMode", algorithm.get("TrainingInputMode", "File"))
        for problem in _problems({**channel, "InputMode": mode}):
            yield from rules.no_channel(channel["ChannelName"], problem)
    yield from _machine_findings(request.get("ResourceConfig", {}))
    numbers = (
        ("job.retry", attempts(request), 1, 10, _RETRIES),
        ("job.max_runtime", request.get("StoppingCondition", {}).get("MaxRuntimeInSeconds"), 60, _LARGEST, _TIMEOUTS),
    )
    for prop, value, low, high, source in numbers:
        if value is not None and known(value):
            yield from engine_rules.in_range(prop, value, low, high, source)


def attempts(request: Mapping[str, Any]) -> float:
    """How often the job is tried in all."""
    return 1 + float(request.get("RetryStrategy", {}).get("MaximumRetryAttempts", 0))


def machine(request: Mapping[str, Any]) -> InstanceType:
    """Facts of the machines, of which `request_findings` has seen to it that they are there."""
    return instance_types()[request["ResourceConfig"]["InstanceType"]]


def _machine_findings(resources: Mapping[str, Any]) -> Iterator[Finding]:
    name = resources.get("InstanceType")
    if name is None:
        return  # the members in its place have findings of their own
    allowed = (
        "an instance type that is known when the app is synthesized, and that data/instance_types.json has facts of"
    )
    facts = instance_types().get(name) if known(name) else None
    if facts is None:
        yield from rules.machines(name if known(name) else "a type that only deployment knows", allowed)
    elif facts.neuron_devices:
        yield from rules.machines(f"{name}, which has Trainium devices", "an instance type with GPUs, or with none")


def _problems(channel: Mapping[str, Any]) -> Iterator[str]:
    source = channel["DataSource"]
    system, objects = source.get("FileSystemDataSource"), source.get("S3DataSource", {})
    given = {**objects, **channel}
    if system is not None and system["FileSystemType"] != "FSxLustre":
        yield f"a file system of type {system['FileSystemType']}"
    if system is None and not objects:
        yield f"a source of type {', '.join(source)}"
    for member, only in _FILES.items():
        if not (system is not None and member == "InputMode") and given.get(member, only) != only:
            yield f"{member} {given[member]}"
    places = ("S3Uri", *_FILES, *_CHANNEL)
    yield from (f"the member {name}" for name in given if name not in places)
