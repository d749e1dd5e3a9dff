"""moto's AWS Batch has no service jobs: neither their API nor anybody who runs training jobs in turn.

The calls are checked by botocore's own model, and handed to who keeps the queues.

Source: https://docs.aws.amazon.com/batch/latest/userguide/service-jobs.html
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from typing import Any

import botocore.session
import botocore.validate
from moto.batch import urls
from moto.batch.exceptions import ClientException
from moto.batch.responses import BatchResponse

from cdk_distributed_training.local.aws.queues.queue_service import QueueError, QueueService
from cdk_distributed_training.local.aws.queues.service_job import ServiceJob


class _Service:
    current: QueueService | None = None


def serve(service: QueueService | None) -> None:
    """Let these queues be kept by a service; `None` for none."""
    _Service.current = service


def service() -> QueueService:
    """Who keeps the queues.

    Raises:
        ClientException: Nobody does.
    """
    if _Service.current is None:
        raise ClientException("no one keeps queues for training jobs here")
    return _Service.current


def _submit(given: Mapping[str, Any]) -> dict[str, Any]:
    try:
        payload = json.loads(given["serviceRequestPayload"])
    except ValueError as error:
        raise ClientException(f"serviceRequestPayload is no JSON: {error}") from None
    if not isinstance(payload, dict):
        raise ClientException("serviceRequestPayload is no JSON object")
    job = service().submit(given)
    return {"jobArn": job.arn, "jobName": given["jobName"], "jobId": job.job_id}


def _describe(given: Mapping[str, Any]) -> dict[str, Any]:
    with service().lock:
        return service().job(given["jobId"]).description()


def _list(given: Mapping[str, Any]) -> dict[str, Any]:
    filters = given.get("filters", [])
    wanted = None if filters else given.get("jobStatus", "RUNNING")
    queue = service().queue(given["jobQueue"])
    with service().lock:
        found = [
            job.summary()
            for job in service().jobs.values()
            if job.queue_arn == queue.arn
            and wanted in (None, job.status)
            and all(_matches(job, one["name"], one["values"]) for one in filters)
        ]
    begin, most = int(given.get("nextToken", 0)), int(given.get("maxResults", 100))
    more = {"nextToken": str(begin + most)} if begin + most < len(found) else {}
    return {"jobSummaryList": found[begin : begin + most], **more}


def _matches(job: ServiceJob, name: str, values: list[str]) -> bool:
    if name not in ("JOB_NAME", "SHARE_IDENTIFIER", "QUOTA_SHARE_NAME"):
        raise ClientException(f"this emulation has no filter {name} for service jobs")
    value = str(job.submitted["jobName"] if name == "JOB_NAME" else job.share).lower()
    return any(value.startswith(one[:-1].lower()) if one.endswith("*") else value == one.lower() for one in values)


def _terminate(given: Mapping[str, Any]) -> dict[str, Any]:
    service().terminate(given["jobId"], given["reason"])
    return {}


Answer = Callable[[Mapping[str, Any]], dict[str, Any]]
_CALLS: Mapping[str, Answer] = {
    "SubmitServiceJob": _submit,
    "DescribeServiceJob": _describe,
    "ListServiceJobs": _list,
    "TerminateServiceJob": _terminate,
}


def install() -> None:
    """Answer the calls."""
    answer_calls(_CALLS)


def answer_calls(answers: Mapping[str, Answer]) -> None:
    """Let moto answer calls of AWS Batch that it does not know.

    Args:
        answers: Operation -> what answers a request that its model has passed.
    """
    for operation, answer in answers.items():
        path = operation.lower()
        urls.url_paths[f"{{0}}/v1/{path}$"] = BatchResponse.dispatch
        setattr(BatchResponse, path, _method(operation, answer))


def _method(operation: str, answer: Answer) -> Callable[[BatchResponse], str]:
    def call(self: BatchResponse) -> str:
        given = json.loads(self.body)
        report = botocore.validate.ParamValidator().validate(given, _shape(operation))
        if report.has_errors():
            raise ClientException(report.generate_report())
        try:
            return json.dumps(answer(given))
        except QueueError as error:
            raise ClientException(str(error)) from None

    return call


@functools.cache
def _shape(operation: str) -> Any:
    model = botocore.session.get_session().get_service_model("batch")
    return model.operation_model(operation).input_shape
