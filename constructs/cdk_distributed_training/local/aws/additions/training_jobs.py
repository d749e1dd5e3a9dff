"""moto's training jobs are completed the moment they are created, and lose half of their request.

Here CreateTrainingJob validates the request by botocore's own model, keeps all of it and hands it to who runs jobs;
DescribeTrainingJob and ListTrainingJobs tell the job's true state; StopTrainingJob, which moto lacks, stops it.
"""

from __future__ import annotations

import functools
import json
from typing import Any, Protocol

import botocore.session
import botocore.validate
from moto.core.exceptions import JsonRESTError
from moto.sagemaker.exceptions import ValidationError
from moto.sagemaker.models import FakeTrainingJob, SageMakerModelBackend
from moto.sagemaker.responses import SageMakerResponse


class JobService(Protocol):
    """Who runs training jobs."""

    def refusal(self, request: dict[str, Any]) -> tuple[str, str] | None:
        """Error code and message if a job of this request is not to be created."""

    def create(self, request: dict[str, Any], record: FakeTrainingJob) -> None:
        """Begin to run a job, and keep moto's record of it up to date."""

    def stop(self, name: str) -> None:
        """Stop a running job."""

    def description(self, name: str) -> dict[str, Any]:
        """What DescribeTrainingJob tells besides the request."""


class _Service:
    current: JobService | None = None


def serve(service: JobService | None) -> None:
    """Let these jobs be run by a service; `None` for none."""
    _Service.current = service


def install() -> None:
    """Run jobs."""
    create = SageMakerResponse.create_training_job
    describe = SageMakerModelBackend.describe_training_job

    def create_and_run(self: SageMakerResponse) -> Any:
        request = json.loads(self.body)
        refuse_invalid(request)
        refusal = _service().refusal(request)
        if refusal is not None:
            raise JsonRESTError(*refusal)
        name = request["TrainingJobName"]
        if name in self.sagemaker_backend.training_jobs:
            raise JsonRESTError("ResourceInUse", f"Training job names must be unique: {name} exists")
        answer = create(self)
        _service().create(request, self.sagemaker_backend.training_jobs[name])
        return answer

    def describe_truly(self: SageMakerModelBackend, training_job_name: str) -> dict[str, Any]:
        said = describe(self, training_job_name)
        kept = {name: said[name] for name in ("TrainingJobName", "TrainingJobArn", "CreationTime")}
        return {**kept, **_service().description(training_job_name)}

    def stop(self: SageMakerResponse) -> str:
        name = json.loads(self.body)["TrainingJobName"]
        job = self.sagemaker_backend.training_jobs.get(name)
        if job is None:
            raise ValidationError(message="Requested resource not found.")
        if job.training_job_status != "InProgress":
            raise ValidationError(
                message=f"The request was rejected because the training job is in status {job.training_job_status}."
            )
        _service().stop(name)
        return "{}"

    SageMakerResponse.create_training_job = create_and_run
    SageMakerModelBackend.describe_training_job = describe_truly
    SageMakerResponse.stop_training_job = stop


def refuse_invalid(request: dict[str, Any]) -> None:
    """Refuse what the API's own model refuses: unknown members, wrong types, missing members.

    Raises:
        ValidationError: With all that is wrong.
    """
    report = botocore.validate.ParamValidator().validate(request, _shape())
    if report.has_errors():
        raise ValidationError(message=report.generate_report())


@functools.cache
def _shape() -> Any:
    model = botocore.session.get_session().get_service_model("sagemaker")
    return model.operation_model("CreateTrainingJob").input_shape


def _service() -> JobService:
    if _Service.current is None:
        raise ValidationError(message="no one runs training jobs here")
    return _Service.current
