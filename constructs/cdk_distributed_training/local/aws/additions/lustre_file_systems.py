"""moto has the API of FSx, and no FSx in CloudFormation.

A file system that a stack makes gets a mount name, and a folder of this machine stands for what is on it: see
`lustre_folders.py`. A data repository is recorded with its properties, which say what is loaded from S3.
"""

from __future__ import annotations

import uuid
from typing import Any

from moto.core.common_models import CloudFormationModel
from moto.fsx.models import FileSystem, FSxBackend, fsx_backends


class LustreResource(CloudFormationModel):  # type: ignore[misc]  # moto has no types here
    """`AWS::FSx::FileSystem`.

    Args:
        file_system: moto's file system.
    """

    # moto reads the service from the second part of a model's module
    __module__ = "moto.fsx.models"

    def __init__(self, file_system: FileSystem) -> None:
        """Remember the file system."""
        self.file_system = file_system

    @property
    def physical_resource_id(self) -> str:
        """The file system's id."""
        return str(self.file_system.file_system_id)

    @staticmethod
    def cloudformation_name_type() -> str:
        """It has no property for its name."""
        return ""

    @staticmethod
    def cloudformation_type() -> str:
        """The type in templates."""
        return "AWS::FSx::FileSystem"

    @classmethod
    def has_cfn_attr(cls, attr: str) -> bool:
        """What `Fn::GetAtt` may ask for."""
        return attr in ("LustreMountName", "DNSName", "ResourceARN")

    def get_cfn_attribute(self, attribute_name: str) -> Any:
        """An attribute's value."""
        return {
            "LustreMountName": (self.file_system.lustre_configuration or {}).get("MountName"),
            "DNSName": self.file_system.dns_name,
            "ResourceARN": self.file_system.resource_arn,
        }[attribute_name]

    @classmethod
    def create_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: dict[str, Any], account_id: str, region_name: str, **kwargs: Any
    ) -> LustreResource:
        """Make the file system."""
        del resource_name, kwargs
        properties = cloudformation_json["Properties"]
        lustre = {**(properties.get("LustreConfiguration") or {}), "MountName": uuid.uuid4().hex[:8]}
        return cls(
            _backend(account_id, region_name).create_file_system(
                client_request_token="",
                file_system_type=properties["FileSystemType"],
                storage_capacity=properties.get("StorageCapacity"),
                storage_type=properties.get("StorageType") or "SSD",
                subnet_ids=properties["SubnetIds"],
                security_group_ids=properties.get("SecurityGroupIds") or [],
                tags=properties.get("Tags"),
                kms_key_id=properties.get("KmsKeyId"),
                windows_configuration=None,
                lustre_configuration=lustre,
                ontap_configuration=None,
                file_system_type_version=properties.get("FileSystemTypeVersion"),
                open_zfs_configuration=None,
            )
        )

    @classmethod
    def update_from_cloudformation_json(
        cls,
        original_resource: LustreResource,
        new_resource_name: str,
        cloudformation_json: dict[str, Any],
        account_id: str,
        region_name: str,
    ) -> LustreResource:
        """Keep the file system: this emulation does not know which properties would replace it."""
        del new_resource_name, cloudformation_json, account_id, region_name
        return original_resource

    @classmethod
    def delete_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: dict[str, Any], account_id: str, region_name: str
    ) -> None:
        """Delete the file system."""
        del cloudformation_json
        _backend(account_id, region_name).file_systems.pop(resource_name, None)


def install() -> None:
    """The class above is known to moto by being defined before the first template is read."""


def _backend(account_id: str, region_name: str) -> FSxBackend:
    backend: FSxBackend = fsx_backends[account_id][region_name]
    return backend
