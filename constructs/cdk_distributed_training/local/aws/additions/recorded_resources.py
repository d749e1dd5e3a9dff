"""moto's CloudFormation skips types that it does not know, and refuses a template that asks for their attributes.

Here such a resource is recorded: it has a physical id and answers for every attribute, and has no behaviour. Which
types these were is told to whoever deploys: a complete stack does not mean that every resource works.
"""

from __future__ import annotations

from typing import Any

from moto.cloudformation import parsing

recorded_types: set[str] = set()
# moto would start containers on this machine for them, and knows neither jobs of several nodes nor all properties
_CONTAINERS_OF_BATCH = {"AWS::Batch::ComputeEnvironment", "AWS::Batch::JobDefinition"}
# types of which a reference gives the ARN, by what stands before the name in it
_NAMED_BY_ARN = {
    "AWS::Batch::ComputeEnvironment": "compute-environment",
    "AWS::Batch::JobDefinition": "job-definition",
    "AWS::Batch::JobQueue": "job-queue",
}
_recorded: dict[str, tuple[str, RecordedResource]] = {}


def recorded(resource_type: str) -> list[RecordedResource]:
    """The existing resources of a type."""
    return [resource for kind, resource in _recorded.values() if kind == resource_type]


class RecordedResource:
    """A resource that exists on paper only."""

    def __init__(self, physical_resource_id: str, properties: dict[str, Any]) -> None:
        """Keep what the template says, with its references resolved."""
        self.physical_resource_id = physical_resource_id
        self.properties = properties

    @staticmethod
    def has_cfn_attr(attr: str) -> bool:
        """Any attribute."""
        del attr
        return True

    def get_cfn_attribute(self, attr: str) -> str:
        """A value that says where it comes from."""
        return self.properties.get(attr) or f"{self.physical_resource_id}-{attr}"

    @staticmethod
    def is_created() -> bool:
        """At once."""
        return True

    @classmethod
    def create_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: dict[str, Any], account_id: str, region_name: str, **more: Any
    ) -> RecordedResource:
        """Record it."""
        kind = more.get("ResourceType", "")
        if kind in _NAMED_BY_ARN:
            resource_name = f"arn:aws:batch:{region_name}:{account_id}:{_NAMED_BY_ARN[kind]}/{resource_name}"
        made = cls(resource_name, cloudformation_json.get("Properties", {}))
        _recorded[resource_name] = (kind, made)
        return made

    @classmethod
    def update_from_cloudformation_json(
        cls,
        original_resource: RecordedResource,
        new_resource_name: str,
        cloudformation_json: dict[str, Any],
        *where: str,
        **more: Any,
    ) -> RecordedResource:
        """Keep the resource, with its new properties."""
        del new_resource_name, where, more
        original_resource.properties = cloudformation_json.get("Properties", {})
        return original_resource

    @classmethod
    def delete_from_cloudformation_json(cls, resource_name: str, *more: Any) -> None:
        """Forget it."""
        del more
        _recorded.pop(resource_name, None)


def install() -> None:
    """Record what moto would skip."""
    known = parsing.resource_class_from_type

    def known_or_recorded(resource_type: str) -> Any:
        if resource_type in parsing.NULL_MODELS or resource_type.startswith("Custom::"):
            return known(resource_type)
        if resource_type in parsing.get_model_map() and resource_type not in _CONTAINERS_OF_BATCH:
            return known(resource_type)
        recorded_types.add(resource_type)
        return RecordedResource

    parsing.resource_class_from_type = known_or_recorded
