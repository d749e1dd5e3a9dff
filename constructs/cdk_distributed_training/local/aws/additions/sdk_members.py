"""moto hands the arguments of an SDK integration to the service as they are spelled, and its answer back.

Step Functions spells every member with a capital; services such as Batch and Step Functions itself do not. moto has
what translates them, and uses it for its optimized integrations only. Good for everybody who uses moto: written so that
it could go upstream.
"""

from __future__ import annotations

import functools
from typing import Any

import botocore.session
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service.state_task_service_aws_sdk import (
    StateTaskServiceAwsSdk,
)


def install() -> None:
    """Translate both ways."""
    StateTaskServiceAwsSdk._normalise_parameters = _to_service
    StateTaskServiceAwsSdk._normalise_response = _from_service


def _to_service(
    self: Any, parameters: Any, boto_service_name: str | None = None, service_action_name: str | None = None
) -> None:
    shape = _operation(self, boto_service_name, service_action_name).input_shape
    if isinstance(parameters, dict) and _begins_small(shape):
        self._to_boto_request(parameters, shape)


def _from_service(
    self: Any, response: Any, boto_service_name: str | None = None, service_action_name: str | None = None
) -> None:
    shape = _operation(self, boto_service_name, service_action_name).output_shape
    if isinstance(response, dict) and _begins_small(shape):
        self._from_boto_response(response, shape)


def _operation(task: Any, service_name: str | None, action_name: str | None) -> Any:
    action = action_name or task.resource.api_action
    return _model(task._get_boto_service_name(service_name)).operation_model(action[0].upper() + action[1:])


@functools.cache
def _model(service: str) -> Any:
    return botocore.session.get_session().get_service_model(service)


def _begins_small(shape: Any) -> bool:
    # where members have their capital already, moto's translation would do no more than spoil abbreviations in them
    return shape is not None and any(name[0].islower() for name in shape.members)
