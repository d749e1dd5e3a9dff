"""What a request's channels bring in (DT220 to DT223, DT360 to DT366)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cdk_distributed_training.checks.examples import (
    Data,
    file_system,
    group,
    lustre_job,
    request,
    template,
)
from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.checks.rule import at, problem, rule
from cdk_distributed_training.checks.rules import file_system_channels
from cdk_distributed_training.checks.subjects.lustre_client import LustreClient
from cdk_distributed_training.checks.subjects.training_request import TrainingRequest
from cdk_distributed_training.checks.template.values import PartialText, Reference, Token
from cdk_distributed_training.checks.template.view import NotJudgedError, View

_CHANNEL = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_FileSystemDataSource.html"
_S3 = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_S3DataSource.html"
_MODES = "https://docs.aws.amazon.com/sagemaker/latest/dg/model-access-training-data.html"
_VPC: Data = {"VpcConfig": {"SecurityGroupIds": ["sg-0123456789"], "Subnets": ["subnet-0123456789"]}}
_FILES = "FileSystemDataSource"


def _mounted(*, vpc: bool = True, channel: Data | None = None, **changes: Any) -> Any:
    """A request with a channel from a file system."""
    source = {
        "FileSystemId": "fs-0123456789abcdef0",
        "FileSystemType": "FSxLustre",
        "FileSystemAccessMode": "ro",
        "DirectoryPath": "/abcdefgh/corpus",
        **changes,
    }
    entry = {"ChannelName": "train", "DataSource": {_FILES: source}, **(channel or {})}
    return request(InputDataConfig=[entry], **(_VPC if vpc else {}))


def _from_s3(**changes: Any) -> Any:
    source = {"S3DataType": "S3Prefix", "S3Uri": "s3://amzn-s3-demo-bucket/corpus/", **changes}
    return {"ChannelName": "train", "DataSource": {"S3DataSource": source}}


def _file_systems(job: TrainingRequest) -> Iterator[View]:
    for channel in job.channels:
        source = channel.view("DataSource", _FILES)
        if source.value is not None:
            yield source


@rule(
    "DT360",
    on=TrainingRequest,
    title="A file system without a VPC",
    why="The API refuses the request: a file system is reached from its own VPC only.",
    source=_CHANNEL,
    bad=_mounted(vpc=False),
    good=_mounted(),
)
def needs_vpc(job: TrainingRequest) -> Iterator[Finding]:
    """DT360: FSx and EFS channels take VpcConfig."""
    if any(True for _ in _file_systems(job)) and not job.view.has("VpcConfig"):
        yield problem(
            "VpcConfig",
            got="none, and a channel from a file system",
            allowed="the file system's subnet, and a group that it admits",
            fix="add VpcConfig with both",
        )


@rule(
    "DT361",
    on=TrainingRequest,
    severity=Severity.WARNING,
    title="A file system that is to be streamed",
    why="Pipe and FastFile are modes of S3; a file system is mounted.",
    source=_MODES,
    bad=_mounted(channel={"InputMode": "FastFile"}),
    good=_mounted(channel={"InputMode": "File"}),
)
def mounted_mode(job: TrainingRequest) -> Iterator[Finding]:
    """DT361: the mode of a channel from a file system is File."""
    for channel in job.channels:
        mode = channel.text("InputMode")
        if mode not in (None, "File") and channel.has("DataSource", _FILES):
            yield problem(
                *channel.path, "InputMode", got=f"{mode} with a file system", allowed="File", fix="leave it out"
            )


@rule(
    "DT220",
    on=TrainingRequest,
    title="A directory that does not begin at the file system's root",
    why="The job fails when it mounts the file system, after its machines have started.",
    source=_CHANNEL,
    bad=_mounted(DirectoryPath="abcdefgh/corpus"),
    good=_mounted(DirectoryPath="/abcdefgh/corpus"),
)
def directory_path(job: TrainingRequest) -> Iterator[Finding]:
    """DT220 of a request."""
    for source in _file_systems(job):
        path = source.raw("DirectoryPath")
        if isinstance(path, str):
            yield from at(file_system_channels.directory_path(path), *source.path, "DirectoryPath")


@rule(
    "DT221",
    on=LustreClient,
    title="A directory that does not begin with the mount name",
    why="The job fails when it mounts the file system, after its machines have started: the path begins with the mount"
    " name, which FSx chooses at random for all but SCRATCH_1.",
    source=_CHANNEL,
    bad=template({"FileSystem": file_system(), "Nodes": group(), "Job": lustre_job(directory="/fsx/corpus")}),
    good=template({"FileSystem": file_system(), "Nodes": group(), "Job": lustre_job()}),
)
def mount_name(client: LustreClient) -> Iterator[Finding]:
    """DT221 of a template: the path is the file system's LustreMountName and a directory."""
    path = client.channel.raw("DirectoryPath")
    if isinstance(path, str) and client.file_system.deployment != "SCRATCH_1":
        name = client.file_system.resource.logical_id
        yield problem(
            *client.channel.path,
            "DirectoryPath",
            got=repr(path),
            allowed=f"'/', the attribute LustreMountName of {name}, and the directory",
            fix=f"write Fn::Sub '/${{{name}.LustreMountName}}/' and the directory",
        )


@rule(
    "DT225",
    on=LustreClient,
    title="A directory that begins with another file system's mount name",
    why="The job fails when it mounts the file system, after its machines have started.",
    source=_CHANNEL,
    bad=template(
        {
            "FileSystem": file_system(),
            "Other": file_system(),
            "Nodes": group(),
            "Job": lustre_job(directory={"Fn::Sub": "/${Other.LustreMountName}/corpus"}),
        }
    ),
    good=template(
        {
            "FileSystem": file_system(),
            "Other": file_system(),
            "Nodes": group(),
            "Job": lustre_job(directory={"Fn::Sub": "/${FileSystem.LustreMountName}/corpus"}),
        }
    ),
)
def own_mount_name(client: LustreClient) -> Iterator[Finding]:
    """DT225: both members are of one file system."""
    path = client.channel.raw("DirectoryPath")
    parts = path.parts if isinstance(path, PartialText) else []
    names = [part for part in parts if isinstance(part, Reference) and part.attribute == "LustreMountName"]
    own = client.file_system.resource.logical_id
    if names and names[0].logical_id != own:
        yield problem(
            *client.channel.path,
            "DirectoryPath",
            got=f"the mount name of {names[0].logical_id}, with the id of {own}",
            allowed=f"the mount name of {own}",
            fix=f"use ${{{own}.LustreMountName}}",
        )


@rule(
    "DT222",
    on=TrainingRequest,
    title="A file system mounted in a way that there is not",
    why="The API refuses the request.",
    source=_CHANNEL,
    bad=_mounted(FileSystemAccessMode="read"),
    good=_mounted(FileSystemAccessMode="ro"),
)
def access_mode(job: TrainingRequest) -> Iterator[Finding]:
    """DT222 of a request."""
    for source in _file_systems(job):
        mode = source.text("FileSystemAccessMode")
        if mode is not None:
            yield from at(file_system_channels.access_mode(mode), *source.path, "FileSystemAccessMode")


@rule(
    "DT223",
    on=TrainingRequest,
    title="A file system that is not named by its id",
    why="The API refuses the request.",
    source=_CHANNEL,
    bad=_mounted(FileSystemId="my-file-system"),
    good=_mounted(FileSystemId="fs-0123456789abcdef0"),
)
def file_system_id(job: TrainingRequest) -> Iterator[Finding]:
    """DT223 of a request."""
    for source in _file_systems(job):
        identifier = source.raw("FileSystemId")
        if isinstance(identifier, str):
            yield from at(file_system_channels.file_system_id(identifier), *source.path, "FileSystemId")


@rule(
    "DT362",
    on=TrainingRequest,
    title="A channel for an instance group that there is not",
    why="The API refuses the request.",
    source=_S3,
    bad=request(InputDataConfig=[_from_s3(InstanceGroupNames=["train"])]),
    good=request(
        InputDataConfig=[_from_s3(InstanceGroupNames=["train"])],
        ResourceConfig={
            "InstanceType": None,
            "InstanceCount": None,
            "InstanceGroups": [
                {"InstanceGroupName": "train", "InstanceType": "ml.g5.2xlarge", "InstanceCount": 1},
            ],
        },
    ),
)
def channel_groups(job: TrainingRequest) -> Iterator[Finding]:
    """DT362: the names are those of ResourceConfig."""
    groups = [row.raw("InstanceGroupName") for row in job.view.items("ResourceConfig", "InstanceGroups")]
    if any(isinstance(name, Token) for name in groups):
        raise NotJudgedError(("ResourceConfig", "InstanceGroups"))
    for channel in job.channels:
        for item in channel.items("DataSource", "S3DataSource", "InstanceGroupNames"):
            if isinstance(item.value, str) and item.value not in groups:
                yield problem(
                    *item.path,
                    got=repr(item.value),
                    allowed=", ".join(map(str, groups)) or "no name, since ResourceConfig has no instance groups",
                    fix="name a group of ResourceConfig",
                )


@rule(
    "DT363",
    on=TrainingRequest,
    title="Attributes of data that have none",
    why="The API refuses the request: attribute names are of augmented manifests.",
    source=_S3,
    bad=request(InputDataConfig=[_from_s3(AttributeNames=["source-ref"])]),
    good=request(InputDataConfig=[_from_s3(AttributeNames=["source-ref"], S3DataType="AugmentedManifestFile")]),
)
def attribute_names(job: TrainingRequest) -> Iterator[Finding]:
    """DT363: they go with AugmentedManifestFile alone."""
    for channel in job.channels:
        source = channel.view("DataSource", "S3DataSource")
        if source.raw("AttributeNames") and source.text("S3DataType") not in (None, "AugmentedManifestFile"):
            yield problem(
                *source.path,
                "AttributeNames",
                got=f"attribute names with {source.text('S3DataType')}",
                allowed="only with AugmentedManifestFile",
                fix="leave them out, or choose that type",
            )


@rule(
    "DT364",
    on=TrainingRequest,
    title="A channel without a source, or with two",
    why="The API refuses the request.",
    source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DataSource.html",
    bad=request(InputDataConfig=[{"ChannelName": "train", "DataSource": {}}]),
    good=request(InputDataConfig=[_from_s3()]),
)
def one_source(job: TrainingRequest) -> Iterator[Finding]:
    """DT364: S3, a file system or a data set."""
    for channel in job.channels:
        source = channel.known("DataSource")
        if isinstance(source, dict) and len(source) != 1:
            yield problem(
                *channel.path,
                "DataSource",
                got=" and ".join(source) or "nothing",
                allowed="one of S3DataSource, FileSystemDataSource, DatasetSource",
                fix="name one source for each channel",
            )


@rule(
    "DT365",
    on=TrainingRequest,
    severity=Severity.INFORMATION,
    title="Data sharded among one machine",
    why="ShardedByS3Key on one machine gives it everything: nothing is sharded.",
    source=_S3,
    bad=request(InputDataConfig=[_from_s3(S3DataDistributionType="ShardedByS3Key")]),
    good=request(
        InputDataConfig=[_from_s3(S3DataDistributionType="ShardedByS3Key")], ResourceConfig={"InstanceCount": 2}
    ),
)
def sharding(job: TrainingRequest) -> Iterator[Finding]:
    """DT365: sharding is among machines."""
    for channel in job.channels:
        kind = channel.text("DataSource", "S3DataSource", "S3DataDistributionType")
        if kind == "ShardedByS3Key" and job.instance_count == 1:
            yield problem(
                *channel.path,
                "DataSource",
                "S3DataSource",
                "S3DataDistributionType",
                got="ShardedByS3Key with one machine",
                allowed="FullyReplicated, or several machines",
                fix="leave it out, or raise InstanceCount",
            )


@rule(
    "DT366",
    on=TrainingRequest,
    title="Both an image and an algorithm, or neither",
    why="The API refuses the request.",
    source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_AlgorithmSpecification.html",
    bad=request(AlgorithmSpecification={"TrainingImage": None}),
    good=request(),
)
def image_or_algorithm(job: TrainingRequest) -> Iterator[Finding]:
    """DT366: one of the two."""
    if job.view.known("AlgorithmSpecification") is None:
        return  # a job of SageMaker's own recipes has none
    given = [name for name in ("TrainingImage", "AlgorithmName") if job.view.has("AlgorithmSpecification", name)]
    if len(given) != 1:
        yield problem(
            "AlgorithmSpecification",
            "TrainingImage",
            got=" and ".join(given) or "neither TrainingImage nor AlgorithmName",
            allowed="one of TrainingImage and AlgorithmName",
            fix="leave out AlgorithmName" if given else "name the image",
        )
