"""moto runs the Lambda function of a custom resource in a Docker container, which this machine may not have.

Without Docker the stack would wait for ever. The two custom resources of the CDK that training stacks use are done
here directly; any other is refused when the template is deployed, by name.
"""

from __future__ import annotations

from typing import Any

from moto.cloudformation import parsing
from moto.cloudformation.exceptions import ValidationError
from moto.ec2.models import ec2_backends
from moto.s3.models import s3_backends

from cdk_distributed_training.local.aws.additions.recorded_resources import RecordedResource


class CloseDefaultSecurityGroup(RecordedResource):
    """Takes all rules out of a VPC's default security group, as the library's function does."""

    @classmethod
    def create_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: dict[str, Any], *where: str, **more: Any
    ) -> RecordedResource:
        """Close the group."""
        account, region = where
        group = ec2_backends[account][region].get_security_group_from_id(
            cloudformation_json["Properties"]["SecurityGroupId"]
        )
        if group is not None:
            group.ingress_rules.clear()
            group.egress_rules.clear()
        return super().create_from_cloudformation_json(resource_name, cloudformation_json, *where, **more)


class EmptyBucket(RecordedResource):
    """Empties a bucket before it is deleted, as the CDK's `auto_delete_objects` does."""

    def delete(self, account: str, region: str) -> None:
        """Empty the bucket."""
        del region
        bucket = s3_backends[account]["aws"].buckets.get(self.properties["BucketName"])
        if bucket is not None:
            bucket.keys.clear()


KNOWN: dict[str, type[RecordedResource]] = {
    "Custom::CloseDefaultSecurityGroup": CloseDefaultSecurityGroup,
    "Custom::S3AutoDeleteObjects": EmptyBucket,
}


def install() -> None:
    """Do the known ones, refuse the others."""
    others = parsing.resource_class_from_type

    def known_only(resource_type: str) -> Any:
        if resource_type in KNOWN:
            return KNOWN[resource_type]
        if resource_type.startswith("Custom::"):
            raise ValidationError(
                message=f"this emulation of AWS has no {resource_type}: it runs no Lambda functions, and of custom "
                f"resources does {', '.join(KNOWN)}"
            )
        return others(resource_type)

    parsing.resource_class_from_type = known_only
