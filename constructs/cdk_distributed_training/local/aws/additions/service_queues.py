"""moto's job queues are for containers only: it has neither service environments nor queues for training jobs.

A queue that asks for a service environment is kept by who keeps the queues for training jobs; any other is recorded.
These are the resources as CloudFormation has them; `service_queue_calls` has the API.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moto.batch.models import JobQueue
from moto.core.common_models import CloudFormationModel

from cdk_distributed_training.local.aws.additions.recorded_resources import RecordedResource, recorded_types
from cdk_distributed_training.local.aws.additions.service_jobs import service
from cdk_distributed_training.local.aws.queues.queue_service import Environment, Queue
from cdk_distributed_training.local.aws.queues.turns import FairShares, FirstInFirstOut, QuotaShares, Turns


class _BatchResource:
    """A resource that answers with its ARN.

    Args:
        arn: The resource's ARN.
        kind: The resource's kind in its ARN.
    """

    kind = ""

    def __init__(self, arn: str) -> None:
        """Remember the ARN."""
        self.physical_resource_id = arn

    @staticmethod
    def cloudformation_name_type() -> str:
        """It has no property for its name."""
        return ""

    @staticmethod
    def is_created() -> bool:
        """At once."""
        return True

    @classmethod
    def has_cfn_attr(cls, attr: str) -> bool:
        """What `Fn::GetAtt` may ask for."""
        return attr.endswith("Arn")

    def get_cfn_attribute(self, attribute_name: str) -> str:
        """The ARN."""
        del attribute_name
        return self.physical_resource_id

    @classmethod
    def create_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: dict[str, Any], account_id: str, region_name: str, **kwargs: Any
    ) -> _BatchResource:
        """Make it."""
        del kwargs
        arn = cls.arn(resource_name, account_id, region_name)
        cls.put(arn, resource_name, cloudformation_json["Properties"])
        return cls(arn)

    @classmethod
    def arn(cls, name: str, account_id: str, region_name: str) -> str:
        """The ARN of a resource of that name."""
        return f"arn:aws:batch:{region_name}:{account_id}:{cls.kind}/{name}"

    @classmethod
    def update_from_cloudformation_json(
        cls,
        original_resource: _BatchResource,
        new_resource_name: str,
        cloudformation_json: dict[str, Any],
        *where: str,
        **more: Any,
    ) -> _BatchResource:
        """Give it its new properties; the jobs of a queue stay."""
        del new_resource_name, where, more
        arn = original_resource.physical_resource_id
        cls.put(arn, arn.rpartition("/")[2], cloudformation_json["Properties"])
        return original_resource

    @classmethod
    def delete_from_cloudformation_json(cls, resource_name: str, *more: Any) -> None:
        """Forget it."""
        del more
        for kept in (service().environments, service().policies, service().queues):
            kept.pop(resource_name, None)

    @classmethod
    def put(cls, arn: str, name: str, properties: Mapping[str, Any]) -> None:
        """Tell who keeps the queues."""
        raise NotImplementedError


class ServiceEnvironmentResource(_BatchResource, CloudFormationModel):  # type: ignore[misc]  # moto has no types here
    """`AWS::Batch::ServiceEnvironment`."""

    # moto reads the service from the second part of a model's module
    __module__ = "moto.batch.models"
    kind = "service-environment"

    @staticmethod
    def cloudformation_type() -> str:
        """The type in templates."""
        return "AWS::Batch::ServiceEnvironment"

    @classmethod
    def put(cls, arn: str, name: str, properties: Mapping[str, Any]) -> None:
        """Keep it."""
        capacity = sum(
            int(one["MaxCapacity"]) for one in properties["CapacityLimits"] if one["CapacityUnit"] == "NUM_INSTANCES"
        )
        service().environments[arn] = Environment(
            name=name, arn=arn, capacity=capacity, state=properties.get("State", "ENABLED")
        )


class SchedulingPolicyResource(_BatchResource, CloudFormationModel):  # type: ignore[misc]  # moto has no types here
    """`AWS::Batch::SchedulingPolicy`."""

    __module__ = "moto.batch.models"
    kind = "scheduling-policy"

    @staticmethod
    def cloudformation_type() -> str:
        """The type in templates."""
        return "AWS::Batch::SchedulingPolicy"

    @classmethod
    def put(cls, arn: str, name: str, properties: Mapping[str, Any]) -> None:
        """Keep it."""
        del name
        turns: Turns = QuotaShares() if "QuotaSharePolicy" in properties else FairShares(properties["FairsharePolicy"])
        service().policies[arn] = turns


class QuotaShareResource(_BatchResource, CloudFormationModel):  # type: ignore[misc]  # moto has no types here
    """`AWS::Batch::QuotaShare`."""

    __module__ = "moto.batch.models"
    kind = "quota-share"

    @staticmethod
    def cloudformation_type() -> str:
        """The type in templates."""
        return "AWS::Batch::QuotaShare"

    @classmethod
    def put(cls, arn: str, name: str, properties: Mapping[str, Any]) -> None:
        """Give it to its queue."""
        del arn, name
        service().add_share(properties["JobQueue"], properties)


class TrainingQueueResource(_BatchResource):
    """`AWS::Batch::JobQueue` with a service environment; reached through moto's own class for the type."""

    kind = "job-queue"

    @classmethod
    def put(cls, arn: str, name: str, properties: Mapping[str, Any]) -> None:
        """Keep it."""
        policy = properties.get("SchedulingPolicyArn")
        limits = properties.get("JobStateTimeLimitActions") or [{}]
        ordered = sorted(properties["ServiceEnvironmentOrder"], key=lambda one: int(one["Order"]))
        service().queues[arn] = Queue(
            name=name,
            arn=arn,
            environments=[one["ServiceEnvironment"] for one in ordered],
            priority=int(properties["Priority"]),
            turns=service().policies[policy] if policy else FirstInFirstOut(),
            head_seconds=limits[0].get("MaxTimeSeconds"),
            head_reason=limits[0].get("Reason", ""),
            state=properties.get("State", "ENABLED"),
        )


def install() -> None:
    """Let moto's class hand queues over; moto knows the other classes by their being defined."""

    def create(
        cls: type[JobQueue], /, resource_name: str, cloudformation_json: dict[str, Any], *where: str, **more: Any
    ) -> Any:
        del cls
        if "ServiceEnvironmentOrder" not in cloudformation_json["Properties"]:
            recorded_types.add("AWS::Batch::JobQueue")
            return RecordedResource.create_from_cloudformation_json(resource_name, cloudformation_json, *where, **more)
        return TrainingQueueResource.create_from_cloudformation_json(resource_name, cloudformation_json, *where, **more)

    def update(cls: type[JobQueue], original_resource: Any, *rest: Any, **more: Any) -> Any:
        del cls
        kind = RecordedResource if isinstance(original_resource, RecordedResource) else TrainingQueueResource
        return kind.update_from_cloudformation_json(original_resource, *rest, **more)

    def delete(cls: type[JobQueue], resource_name: str, *more: Any) -> None:
        del cls
        TrainingQueueResource.delete_from_cloudformation_json(resource_name, *more)
        RecordedResource.delete_from_cloudformation_json(resource_name, *more)

    JobQueue.create_from_cloudformation_json = classmethod(create)
    JobQueue.update_from_cloudformation_json = classmethod(update)
    JobQueue.delete_from_cloudformation_json = classmethod(delete)
