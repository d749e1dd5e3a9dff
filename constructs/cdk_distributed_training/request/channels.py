"""How input channels look in the request, and what every kind of channel offers to a job."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from cdk_distributed_training.request.file_system_data_source import FileSystemDataSource
from cdk_distributed_training.request.request_part import RequestPart, spelled
from cdk_distributed_training.request.s3_data_source import S3DataSource

if TYPE_CHECKING:
    from aws_cdk import aws_iam as iam

# channels that bring the launcher and the user's code into the container, and hyperparameters too long for the API
RESERVED_CHANNEL_NAMES = ("launcher", "code")
HYPERPARAMETER_CHANNEL = "launcher-hyperparameters"


class TrainingChannel(Protocol):
    """Input data of a job: a folder under `/opt/ml/input/data` on every host."""

    @property
    def channel_name(self) -> str:
        """Name of the channel and of its folder."""

    @property
    def network(self) -> Any:
        """The `TrainingNetwork` from which the data can be reached; `None` if any network will do."""

    def bind(self, grantee: iam.IGrantable) -> dict[str, Any]:
        """Grant the job's role what reading takes, and return the request's `InputDataConfig` entry."""


@dataclass(frozen=True, kw_only=True)
class ChannelEntry(RequestPart):
    """One entry of `InputDataConfig`; exactly one of the sources is given.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_Channel.html

    Attributes:
        channel_name: Name of the channel.
        s3: Data in S3.
        file_system: Data in a file system.
        dataset_arn: ARN of a data set in a hub.
        content_type: MIME type of the data.
        compression: Whether the data are compressed; read in Pipe mode only.
        record_wrapper: Whether SageMaker wraps each object in RecordIO; read in Pipe mode only.
        input_mode: The channel's own mode; the job's unless given.
        shuffle_seed: Seed of the order of the objects, new in each epoch; in the order of their keys unless given.
    """

    channel_name: str = field(metadata=spelled("ChannelName"))
    s3: S3DataSource | None = field(default=None, metadata=spelled("DataSource", inside="S3DataSource"))
    file_system: FileSystemDataSource | None = field(
        default=None, metadata=spelled("DataSource", inside="FileSystemDataSource")
    )
    dataset_arn: str | None = field(
        default=None, metadata=spelled("DataSource", lambda arn: {"DatasetArn": arn}, inside="DatasetSource")
    )
    content_type: str | None = field(default=None, metadata=spelled("ContentType"))
    compression: Literal["None", "Gzip"] | None = field(default=None, metadata=spelled("CompressionType"))
    record_wrapper: Literal["None", "RecordIO"] | None = field(default=None, metadata=spelled("RecordWrapperType"))
    input_mode: str | None = field(default=None, metadata=spelled("InputMode"))
    shuffle_seed: int | None = field(default=None, metadata=spelled("ShuffleConfig", inside="Seed"))


def s3_channel(channel_name: str, uri: str, *, input_mode: str | None = None) -> dict[str, Any]:
    """The entry for everything under an S3 address, whole on every host.

    Args:
        channel_name: Name of the channel.
        uri: Prefix of the objects, such as `s3://bucket/corpus`.
        input_mode: `File` downloads before the start, `FastFile` streams on read; the job's own mode, `File`,
            unless given.
    """
    return ChannelEntry(channel_name=channel_name, s3=S3DataSource(uri=uri), input_mode=input_mode).render()


def lustre_channel(
    channel_name: str, *, file_system_id: str, directory_path: str, access_mode: str = "ro"
) -> dict[str, Any]:
    """The entry for a folder of a file system of FSx for Lustre.

    Args:
        channel_name: Name of the channel.
        file_system_id: Id of the file system, such as `fs-0123456789abcdef0`.
        directory_path: `/`, the file system's mount name, and the folder.
        access_mode: `ro` to read, `rw` to read and write.
    """
    source = FileSystemDataSource(
        file_system_id=file_system_id,
        file_system_type="FSxLustre",
        directory_path=directory_path,
        access_mode=access_mode,
    )
    return ChannelEntry(channel_name=channel_name, file_system=source).render()


def efs_channel(
    channel_name: str, *, file_system_id: str, directory_path: str = "/", access_mode: str = "ro"
) -> dict[str, Any]:
    """The entry for a folder of a file system of EFS.

    Args:
        channel_name: Name of the channel.
        file_system_id: Id of the file system, such as `fs-0123456789abcdef0`.
        directory_path: The folder in the file system.
        access_mode: `ro` to read, `rw` to read and write.
    """
    source = FileSystemDataSource(
        file_system_id=file_system_id, file_system_type="EFS", directory_path=directory_path, access_mode=access_mode
    )
    return ChannelEntry(channel_name=channel_name, file_system=source).render()
