"""What a job's request asks of whoever runs it outside of SageMaker: files, channels and variables, by their places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import aws_cdk as cdk

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules import engines as engine_rules
from cdk_distributed_training.checks.rules import hyperpod_jobs as rules
from cdk_distributed_training.engines.expressible_members import inexpressible

_SOURCE = "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod.html"
# members that a job on HyperPod has a place for, with those of the structure where some have none
_MEMBERS: Mapping[str, Sequence[str] | None] = {
    "AlgorithmSpecification": (
        "TrainingImage",
        "TrainingInputMode",
        "EnableSageMakerMetricsTimeSeries",
        "ContainerEntrypoint",
        "ContainerArguments",
        "MetricDefinitions",
    ),
    "CheckpointConfig": None,
    "Environment": None,
    "HyperParameters": None,
    "InputDataConfig": None,
    "OutputDataConfig": None,
    "ResourceConfig": ("InstanceType", "InstanceCount", "VolumeSizeInGB"),
    "RoleArn": None,
    "StoppingCondition": None,
    "Tags": None,
    "VpcConfig": None,
}
# what only SageMaker's training jobs do, and training can do without
_LEFT_OUT = (
    "DebugHookConfig",
    "DebugRuleConfigurations",
    "ExperimentConfig",
    "InfraCheckConfig",
    "MlflowConfig",
    "ProfilerConfig",
    "ProfilerRuleConfigurations",
    "RemoteDebugConfig",
    "RetryStrategy",
    "SessionChainingConfig",
    "TensorBoardOutputConfig",
)
_ASSETS = (".zip", ".json")
LAUNCHER_IN_IMAGE = ("python3", "-u", "/opt/training-launcher")
"""The entry point of images with the launcher inside, as container/Dockerfile has it."""


@dataclass(frozen=True, kw_only=True)
class S3Input:
    """A channel that is copied from S3.

    Attributes:
        name: The channel's name.
        uri: Where it is.
        is_object: Whether that is one object, not a folder.
    """

    name: str
    uri: str
    is_object: bool


@dataclass(frozen=True, kw_only=True)
class LustreInput:
    """A channel that is a directory of the cluster's file system.

    Attributes:
        name: The channel's name.
        path: The directory, relative to where the file system is mounted; empty for all of it.
        file_system_id: The file system.
    """

    name: str
    path: str
    file_system_id: str


class JobInputs:
    """A request, as a job on HyperPod sees it."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        """Read a request.

        Args:
            request: The `CreateTrainingJob` request; tokens may be anywhere in it.
        """
        self._request = request

    def findings(self) -> Iterator[Finding]:
        """What a job on HyperPod cannot do."""
        # a switch that is off asks for nothing
        asked = {name: value for name, value in self._request.items() if value is not False and name not in _LEFT_OUT}
        yield from inexpressible(asked, engine="a HyperPod cluster", members=_MEMBERS, source=_SOURCE)
        unusual = {
            f"InputDataConfig.{channel['ChannelName']}.{member}": False
            for channel in self._request.get("InputDataConfig", ())
            for member in self._unusual(channel)
        }
        yield from engine_rules.expressible("a HyperPod cluster", unusual, _SOURCE)

    def left_out(self) -> Iterator[Finding]:
        """What it does without."""
        yield from rules.left_out([name for name in _LEFT_OUT if name in self._request])

    @property
    def image(self) -> str:
        """The image's address."""
        return str(self._request["AlgorithmSpecification"]["TrainingImage"])

    @property
    def command(self) -> list[str]:
        """The launcher's command line, in full."""
        algorithm = self._request["AlgorithmSpecification"]
        entrypoint = algorithm.get("ContainerEntrypoint") or LAUNCHER_IN_IMAGE
        return [*entrypoint, *algorithm.get("ContainerArguments", ())]

    @property
    def hyperparameters(self) -> Mapping[str, str]:
        """Names and texts."""
        return dict(self._request.get("HyperParameters", {}))

    @property
    def environment(self) -> Mapping[str, str]:
        """The container's variables."""
        return dict(self._request.get("Environment", {}))

    @property
    def instance_count(self) -> float:
        """Machines."""
        return float(self._request["ResourceConfig"].get("InstanceCount", 1))

    @property
    def output_path(self) -> str:
        """Folder in S3 for models."""
        return str(self._request["OutputDataConfig"]["S3OutputPath"])

    @property
    def output_key(self) -> str | None:
        """KMS key for models, if it has one."""
        return self._request["OutputDataConfig"].get("KmsKeyId")  # type: ignore[no-any-return]

    @property
    def max_runtime(self) -> int | None:
        """Seconds after which the job is stopped; None if only deployment knows."""
        seconds = self._request.get("StoppingCondition", {}).get("MaxRuntimeInSeconds")
        return None if seconds is None or cdk.Token.is_unresolved(seconds) else int(seconds)

    @property
    def copied(self) -> list[S3Input]:
        """Channels in S3."""
        found = []
        for channel in self._request.get("InputDataConfig", ()):
            source = channel.get("DataSource", {}).get("S3DataSource")
            if source is not None:
                uri = source["S3Uri"]
                found.append(S3Input(name=channel["ChannelName"], uri=uri, is_object=uri.endswith(_ASSETS)))
        return found

    @property
    def mounted(self) -> list[LustreInput]:
        """Channels on file systems."""
        found = []
        for channel in self._request.get("InputDataConfig", ()):
            source = channel.get("DataSource", {}).get("FileSystemDataSource")
            if source is not None:
                # the mount name stands first, which is no part of the path on a client
                _, _, path = source["DirectoryPath"].lstrip("/").partition("/")
                found.append(LustreInput(name=channel["ChannelName"], path=path, file_system_id=source["FileSystemId"]))
        return found

    def _unusual(self, channel: Mapping[str, Any]) -> Iterator[str]:
        source = channel.get("DataSource", {})
        s3 = source.get("S3DataSource", {})
        if s3.get("S3DataType", "S3Prefix") != "S3Prefix":
            yield "S3DataType"
        if s3.get("S3DataDistributionType", "FullyReplicated") != "FullyReplicated":
            yield "S3DataDistributionType"
        if channel.get("InputMode", self._request["AlgorithmSpecification"]["TrainingInputMode"]) == "Pipe":
            yield "InputMode"
        yield from (
            member for member in ("ShuffleConfig", "RecordWrapperType") if channel.get(member, "None") != "None"
        )
        if source.get("FileSystemDataSource", {}).get("FileSystemType", "FSxLustre") != "FSxLustre":
            yield "FileSystemType"
