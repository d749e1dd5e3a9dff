"""How input channels look in the request, and what every kind of channel offers to a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from aws_cdk import aws_iam as iam

# channels that bring the launcher and the user's code into the container
RESERVED_CHANNEL_NAMES = ("launcher", "code")


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


def s3_channel(channel_name: str, uri: str, *, input_mode: str | None = None) -> dict[str, Any]:
    """The entry for everything under an S3 address, whole on every host.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_S3DataSource.html

    Args:
        channel_name: Name of the channel.
        uri: Prefix of the objects, such as `s3://bucket/corpus`.
        input_mode: `File` downloads before the start, `FastFile` streams on read; the job's own mode, `File`,
            unless given.
    """
    entry: dict[str, Any] = {
        "ChannelName": channel_name,
        "DataSource": {
            "S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": uri, "S3DataDistributionType": "FullyReplicated"}
        },
    }
    if input_mode is not None:
        entry["InputMode"] = input_mode
    return entry


def lustre_channel(
    channel_name: str, *, file_system_id: str, directory_path: str, access_mode: str = "ro"
) -> dict[str, Any]:
    """The entry for a folder of a file system of FSx for Lustre.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_FileSystemDataSource.html

    Args:
        channel_name: Name of the channel.
        file_system_id: Id of the file system, such as `fs-0123456789abcdef0`.
        directory_path: `/`, the file system's mount name, and the folder.
        access_mode: `ro` to read, `rw` to read and write.
    """
    source = {
        "FileSystemId": file_system_id,
        "FileSystemType": "FSxLustre",
        "DirectoryPath": directory_path,
        "FileSystemAccessMode": access_mode,
    }
    return {"ChannelName": channel_name, "DataSource": {"FileSystemDataSource": source}}
