"""moto's API of AWS Batch knows no service environments and quota shares, and no queues with them.

The calls do what CloudFormation does: see `service_queues`. The requests spell their members with a small letter.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from moto.batch import urls
from moto.batch.exceptions import ClientException
from moto.batch.responses import BatchResponse

from cdk_distributed_training.local.aws.additions.service_jobs import service
from cdk_distributed_training.local.aws.additions.service_queues import (
    QuotaShareResource,
    ServiceEnvironmentResource,
    TrainingQueueResource,
)
from cdk_distributed_training.local.aws.queues.queue_service import Environment, QueueError


def install() -> None:
    """Answer the calls, and let queues for containers be moto's own."""
    others = BatchResponse.createjobqueue

    def create_queue(self: BatchResponse) -> str:
        given = json.loads(self.body)
        if "serviceEnvironmentOrder" not in given:
            return str(others(self))
        name = given["jobQueueName"]
        arn = TrainingQueueResource.arn(name, self.current_account, self.region)
        TrainingQueueResource.put(arn, name, {"Priority": 1, **_capitalized(given)})
        return json.dumps({"jobQueueArn": arn, "jobQueueName": name})

    BatchResponse.createjobqueue = create_queue
    _answer("createserviceenvironment", _create_environment)
    _answer("updateserviceenvironment", _update_environment)
    _answer("describeserviceenvironments", _describe_environments)
    _answer("createquotashare", _create_share)


def _answer(path: str, method: Callable[[BatchResponse, dict[str, Any]], dict[str, Any]]) -> None:
    def call(self: BatchResponse) -> str:
        try:
            return json.dumps(method(self, json.loads(self.body)))
        except QueueError as error:
            raise ClientException(str(error)) from None

    urls.url_paths[f"{{0}}/v1/{path}$"] = BatchResponse.dispatch
    setattr(BatchResponse, path, call)


def _create_environment(self: BatchResponse, given: dict[str, Any]) -> dict[str, Any]:
    name = given["serviceEnvironmentName"]
    arn = ServiceEnvironmentResource.arn(name, self.current_account, self.region)
    ServiceEnvironmentResource.put(arn, name, _capitalized(given))
    return {"serviceEnvironmentName": name, "serviceEnvironmentArn": arn}


def _update_environment(self: BatchResponse, given: dict[str, Any]) -> dict[str, Any]:
    del self
    found = _environments([given["serviceEnvironment"]])
    if not found:
        raise ClientException(f"Service environment {given['serviceEnvironment']} does not exist")
    found[0].state = given.get("state", found[0].state)
    for limit in given.get("capacityLimits", []):
        found[0].capacity = limit["maxCapacity"]
    service().look()
    return {"serviceEnvironmentName": found[0].name, "serviceEnvironmentArn": found[0].arn}


def _describe_environments(self: BatchResponse, given: dict[str, Any]) -> dict[str, Any]:
    del self
    return {
        "serviceEnvironments": [
            {
                "serviceEnvironmentName": one.name,
                "serviceEnvironmentArn": one.arn,
                "serviceEnvironmentType": "SAGEMAKER_TRAINING",
                "state": one.state,
                "status": "VALID",
                "capacityLimits": [{"capacityUnit": "NUM_INSTANCES", "maxCapacity": one.capacity}],
            }
            for one in _environments(given.get("serviceEnvironments"))
        ]
    }


def _create_share(self: BatchResponse, given: dict[str, Any]) -> dict[str, Any]:
    name = given["quotaShareName"]
    arn = QuotaShareResource.arn(name, self.current_account, self.region)
    QuotaShareResource.put(arn, name, _capitalized(given))
    return {"quotaShareName": name, "quotaShareArn": arn}


def _environments(names: list[str] | None) -> list[Environment]:
    every = service().environments.values()
    return [one for one in every if names is None or one.arn in names or one.name in names]


def _capitalized(value: Any) -> Any:
    """Members as CloudFormation spells them."""
    if isinstance(value, dict):
        return {name[0].upper() + name[1:]: _capitalized(inner) for name, inner in value.items()}
    return [_capitalized(inner) for inner in value] if isinstance(value, list) else value
