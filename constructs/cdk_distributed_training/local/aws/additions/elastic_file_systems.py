"""moto's CloudFormation makes file systems of EFS, and answers for none of their attributes.

Templates of the CDK ask for the ARN in the file system's policy. Good for everybody who uses moto: written so that it
could go upstream.
"""

from __future__ import annotations

from moto.efs.models import FileSystem


def install() -> None:
    """Answer for the id and the ARN."""
    FileSystem.has_cfn_attr = classmethod(_has)
    FileSystem.get_cfn_attribute = _get


def _has(cls: type[FileSystem], attr: str) -> bool:
    del cls
    return attr in ("Arn", "FileSystemId")


def _get(self: FileSystem, attribute_name: str) -> str:
    return str({"Arn": self.file_system_arn, "FileSystemId": self.file_system_id}[attribute_name])
