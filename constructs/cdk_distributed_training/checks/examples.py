"""Examples that explain rules: each is shown on the rule's page, and judged by a test."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Data = dict[str, Any]


@dataclass(frozen=True)
class Example:
    """A document, or values given to a construct.

    Attributes:
        content: The document's content, or the values by name.
        is_document: Whether `content` is a document.
        before: The template that the document takes the place of; None where the rule compares nothing.
    """

    content: Data = field(default_factory=dict)
    is_document: bool = True
    before: Data | None = None

    def text(self) -> str:
        """The document as JSON."""
        return json.dumps(self.content, indent=2)


def given(**values: Any) -> Example:
    """Values as a construct gives them to the rule."""
    return Example(values, is_document=False)


def template(resources: Data, **members: Any) -> Example:
    """A CloudFormation template."""
    return Example({**members, "Resources": resources})


def update(before: Data, after: Data) -> Example:
    """A change of a template.

    Args:
        before: The resources as they are deployed.
        after: The resources as they will be.
    """
    return Example({"Resources": after}, before={"Resources": before})


def request(**changes: Any) -> Example:
    """A CreateTrainingJob request: a small one that is right, with changes; None leaves a member out."""
    return Example(merged(_REQUEST, changes))


def lustre(*, resources: Data | None = None, attributes: Data | None = None, **changes: Any) -> Example:
    """A template with a file system that is right, with changes to its properties.

    Args:
        resources: Further resources.
        attributes: Members of the resource besides its properties, such as `DeletionPolicy`.
        changes: Changed properties; None leaves one out.
    """
    return template({"FileSystem": file_system(attributes=attributes, **changes), **(resources or {})})


def scratch(*, resources: Data | None = None, **changes: Any) -> Example:
    """A template with a scratch file system that is right, with changes to its properties."""
    kind = {"DeploymentType": "SCRATCH_2", "PerUnitStorageThroughput": None}
    changes["LustreConfiguration"] = {**kind, **changes.get("LustreConfiguration", {})}
    return lustre(
        resources=resources, attributes={"DeletionPolicy": "Delete", "UpdateReplacePolicy": "Delete"}, **changes
    )


def file_system(*, attributes: Data | None = None, **changes: Any) -> Data:
    """A file system that is right, with changes to its properties."""
    kept = {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}
    chosen = {key: value for key, value in {**kept, **(attributes or {})}.items() if value is not None}
    return {"Type": "AWS::FSx::FileSystem", **chosen, "Properties": merged(_FILE_SYSTEM, changes)}


def association(**changes: Any) -> Data:
    """A data repository association that is right, with changes to its properties."""
    return {"Type": "AWS::FSx::DataRepositoryAssociation", "Properties": merged(_ASSOCIATION, changes)}


def job(**changes: Any) -> Data:
    """A training job in a template, as a state machine that starts it."""
    return state_machine(
        {
            "StartAt": "Train",
            "States": {
                "Train": {
                    "Type": "Task",
                    "Resource": "arn:aws:states:::sagemaker:createTrainingJob.sync",
                    "Parameters": merged(
                        {key: value for key, value in _REQUEST.items() if key != "TrainingJobName"},
                        {"TrainingJobName.$": "$$.Execution.Name", **changes},
                    ),
                    "End": True,
                }
            },
        }
    )


def state_machine(definition: Data, **properties: Any) -> Data:
    """A state machine's resource."""
    role = "arn:aws:iam::111122223333:role/StateMachine"
    return {
        "Type": "AWS::StepFunctions::StateMachine",
        "Properties": {"RoleArn": role, "Definition": definition, **properties},
    }


def group(**properties: Any) -> Data:
    """A security group's resource."""
    return {
        "Type": "AWS::EC2::SecurityGroup",
        "Properties": {"GroupDescription": "Nodes", "VpcId": "vpc-0123456789abcdef0", **properties},
    }


def group_rule(direction: str, *, of: str, peer: str | None = None, **properties: Any) -> Data:
    """A rule of a group as a resource of its own.

    Args:
        direction: `Ingress` or `Egress`.
        of: Logical id of the group.
        peer: Logical id of the other group; None where `properties` name addresses.
        properties: Protocol and ports; all traffic unless given.
    """
    key = "SourceSecurityGroupId" if direction == "Ingress" else "DestinationSecurityGroupId"
    named = {} if peer is None else {key: {"Fn::GetAtt": [peer, "GroupId"]}}
    return {
        "Type": f"AWS::EC2::SecurityGroup{direction}",
        "Properties": {"GroupId": {"Fn::GetAtt": [of, "GroupId"]}, "IpProtocol": "-1", **named, **properties},
    }


def subnet_in(zone: Any, cidr: str = "10.0.0.0/20", vpc: str = "vpc-0123456789abcdef0") -> Data:
    """A subnet's resource."""
    return {"Type": "AWS::EC2::Subnet", "Properties": {"VpcId": vpc, "CidrBlock": cidr, "AvailabilityZone": zone}}


def open_to_itself(name: str) -> Data:
    """A group that is open to itself in both directions, and its two rules."""
    return {
        name: group(SecurityGroupEgress=[{"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": "0.0.0.0/0"}]),
        f"{name}Ingress": group_rule("Ingress", of=name, peer=name),
        f"{name}Egress": group_rule("Egress", of=name, peer=name),
    }


def in_vpc(groups: list[str], subnets: list[Any] | None = None) -> Data:
    """A job's `VpcConfig` with groups of the same template."""
    return {
        "SecurityGroupIds": [{"Fn::GetAtt": [name, "GroupId"]} for name in groups],
        "Subnets": subnets or ["subnet-0123456789abcdef0"],
    }


def lustre_job(*, directory: Any = None, **changes: Any) -> Data:
    """A training job in a template that reads the file system of the same template."""
    mount = {"Fn::Join": ["", ["/", {"Fn::GetAtt": ["FileSystem", "LustreMountName"]}, "/corpus"]]}
    source = {
        "FileSystemId": {"Ref": "FileSystem"},
        "FileSystemType": "FSxLustre",
        "FileSystemAccessMode": "ro",
        "DirectoryPath": mount if directory is None else directory,
    }
    channel = {"ChannelName": "train", "DataSource": {"FileSystemDataSource": source}}
    return job(**{"InputDataConfig": [channel], "VpcConfig": in_vpc(["Nodes"]), **changes})


def machines(instance_type: str, count: int = 1, **changes: Any) -> Data:
    """A job's `ResourceConfig`."""
    return {"InstanceType": instance_type, "InstanceCount": count, "VolumeSizeInGB": 30, **changes}


def merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> Data:
    """`base` with changes: mappings are merged, None removes. What stays is shared, for nobody writes to it."""
    result = dict(base)
    for key, value in changes.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(result.get(key), dict) and not _is_function(value):
            result[key] = merged(result[key], value)
        else:
            result[key] = value
    return result


def _is_function(value: Data) -> bool:
    return len(value) == 1 and next(iter(value)).startswith(("Fn::", "Ref"))


_REQUEST: Data = {
    "TrainingJobName": "pretrain-2026-11-30",
    "RoleArn": "arn:aws:iam::111122223333:role/Training",
    "AlgorithmSpecification": {
        "TrainingImage": "111122223333.dkr.ecr.us-east-1.amazonaws.com/train:1.4.2",
        "TrainingInputMode": "File",
    },
    "InputDataConfig": [
        {
            "ChannelName": "train",
            "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://amzn-s3-demo-bucket/corpus/"}},
        }
    ],
    "OutputDataConfig": {"S3OutputPath": "s3://amzn-s3-demo-bucket/models/"},
    "ResourceConfig": {"InstanceType": "ml.g5.xlarge", "InstanceCount": 1, "VolumeSizeInGB": 30},
    "StoppingCondition": {"MaxRuntimeInSeconds": 86400},
}
_FILE_SYSTEM: Data = {
    "FileSystemType": "LUSTRE",
    "FileSystemTypeVersion": "2.15",
    "StorageCapacity": 1200,
    "SubnetIds": ["subnet-0123456789abcdef0"],
    "SecurityGroupIds": ["sg-0123456789abcdef0"],
    "LustreConfiguration": {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 250},
}
_ASSOCIATION: Data = {
    "FileSystemId": {"Ref": "FileSystem"},
    "FileSystemPath": "/corpus",
    "DataRepositoryPath": "s3://amzn-s3-demo-bucket/corpus/",
    "BatchImportMetaDataOnCreate": True,
}
