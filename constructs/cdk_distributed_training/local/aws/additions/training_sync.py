"""moto forwards the optimized integration of SageMaker as a plain call, and has no `.sync` for it.

Here `createTrainingJob.sync` waits for the job. Its result is the job's description; a job that ended in another way
than `Completed` is the error `States.TaskFailed` with the description as its cause; and a job whose execution is
aborted, or whose time is up, is stopped.

Source: https://docs.aws.amazon.com/step-functions/latest/dg/connect-sagemaker.html
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from botocore.exceptions import ClientError
from moto.stepfunctions.parser.api import HistoryEventType, TaskFailedEventDetails
from moto.stepfunctions.parser.asl.component.common.error_name.custom_error_name import CustomErrorName
from moto.stepfunctions.parser.asl.component.common.error_name.failure_event import FailureEvent, FailureEventException
from moto.stepfunctions.parser.asl.component.common.error_name.states_error_name import StatesErrorName
from moto.stepfunctions.parser.asl.component.common.error_name.states_error_name_type import StatesErrorNameType
from moto.stepfunctions.parser.asl.component.state.exec.state_task import state_task_factory
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service import state_task_service_unsupported
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service.resource import ResourceCondition
from moto.stepfunctions.parser.asl.eval.event.event_detail import EventDetails
from moto.stepfunctions.parser.asl.utils.encoding import to_json_str

from cdk_distributed_training.local.aws import clients

_GOING = ("InProgress", "Stopping")


class SageMakerTask(state_task_service_unsupported.StateTaskServiceUnsupported):  # type: ignore[misc]  # no types here
    """A task of the optimized integration."""

    def __init__(self) -> None:
        """It takes `.sync` too."""
        super().__init__()
        self._supported_integration_patterns = {ResourceCondition.WaitForTaskToken, ResourceCondition.Sync}
        self._training_job = ""

    def _log_unsupported_warning(self) -> None:
        """What it does is supported here."""

    def _build_sync_resolver(self, env: Any, *where: Any, **more: Any) -> Callable[[], Any]:
        del where, more
        self._training_job = str(env.stack.pop()["TrainingJobArn"]).rpartition("/")[2]

        def look() -> Any:
            told = clients.client("sagemaker").describe_training_job(TrainingJobName=self._training_job)
            told.pop("ResponseMetadata", None)
            status = told["TrainingJobStatus"]
            if status in _GOING:
                return None
            if status != "Completed":
                name = StatesErrorNameType.StatesTaskFailed
                raise FailureEventException(
                    self._failure(env, StatesErrorName(typ=name), name.to_name(), to_json_str(told))
                )
            return json.loads(to_json_str(told))

        return look

    def _eval_sync(self, env: Any, *what: Any, **more: Any) -> Any:
        outcome = super()._eval_sync(env, *what, **more)
        if outcome is None:
            self._stop()
        return outcome

    def _stop(self) -> None:
        try:
            clients.client("sagemaker").stop_training_job(TrainingJobName=self._training_job)
        except ClientError as error:
            # somebody else has stopped it, or it has ended by itself
            if error.response["Error"]["Code"] != "ValidationException":
                raise

    def _from_error(self, env: Any, ex: Exception) -> Any:
        if not isinstance(ex, ClientError):
            return super()._from_error(env=env, ex=ex)
        answer = ex.response["Error"]
        name = f"SageMaker.{answer['Code']}"
        return self._failure(env, CustomErrorName(name), name, f"{answer['Message']} (Error Code: {answer['Code']})")

    def _failure(self, env: Any, error_name: Any, error: str, cause: str) -> Any:
        return FailureEvent(
            env=env,
            error_name=error_name,
            event_type=HistoryEventType.TaskFailed,
            event_details=EventDetails(
                taskFailedEventDetails=TaskFailedEventDetails(
                    resource=self._get_sfn_resource(),
                    resourceType=self._get_sfn_resource_type(),
                    error=error,
                    cause=cause,
                )
            ),
        )


def install() -> None:
    """Let SageMaker's tasks be these."""
    others = state_task_factory.state_task_service_for

    def with_sagemaker(service_name: str) -> Any:
        return SageMakerTask() if service_name == "sagemaker" else others(service_name)

    state_task_factory.state_task_service_for = with_sagemaker
