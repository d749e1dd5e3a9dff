"""moto's CloudFormation knows subscriptions only as a property of their topic; the CDK writes them as resources.

Good for everybody who uses moto: written so that it could go upstream.
"""

from __future__ import annotations

from typing import Any

from moto.core.common_models import CloudFormationModel
from moto.sns.models import sns_backends


class SubscriptionResource(CloudFormationModel):  # type: ignore[misc]  # moto has no types here
    """`AWS::SNS::Subscription`."""

    # moto reads the service from the second part of a model's module
    __module__ = "moto.sns.models"

    def __init__(self, arn: str) -> None:
        """Remember the subscription's ARN."""
        self.physical_resource_id = arn

    @staticmethod
    def cloudformation_name_type() -> str:
        """It has no property for its name."""
        return ""

    @staticmethod
    def cloudformation_type() -> str:
        """The type in templates."""
        return "AWS::SNS::Subscription"

    @classmethod
    def has_cfn_attr(cls, attr: str) -> bool:
        """What `Fn::GetAtt` may ask for."""
        return attr == "Arn"

    def get_cfn_attribute(self, attribute_name: str) -> str:
        """The ARN."""
        del attribute_name
        return self.physical_resource_id

    @classmethod
    def create_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: dict[str, Any], account_id: str, region_name: str, **kwargs: Any
    ) -> SubscriptionResource:
        """Subscribe."""
        del resource_name, kwargs
        properties = cloudformation_json["Properties"]
        made = sns_backends[account_id][region_name].subscribe(
            properties["TopicArn"], properties["Endpoint"], properties["Protocol"]
        )
        if properties.get("RawMessageDelivery"):
            made.attributes["RawMessageDelivery"] = "true"
        return cls(made.arn)

    @classmethod
    def update_from_cloudformation_json(
        cls,
        original_resource: SubscriptionResource,
        new_resource_name: str,
        cloudformation_json: dict[str, Any],
        account_id: str,
        region_name: str,
    ) -> SubscriptionResource:
        """Subscribe anew."""
        cls.delete_from_cloudformation_json(
            original_resource.physical_resource_id, cloudformation_json, account_id, region_name
        )
        return cls.create_from_cloudformation_json(new_resource_name, cloudformation_json, account_id, region_name)

    @classmethod
    def delete_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: dict[str, Any], account_id: str, region_name: str
    ) -> None:
        """Unsubscribe."""
        del cloudformation_json
        sns_backends[account_id][region_name].unsubscribe(resource_name)


def install() -> None:
    """The class above is known to moto by being defined before the first template is read."""
