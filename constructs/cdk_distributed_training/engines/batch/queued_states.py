"""The states that put one training job into a queue of AWS Batch and wait for it.

    Defaults -> Overrides -> Fits -> Payload -> Submit -> Wait <-> Look -> Ended -> Describe -> Completed | NotCompleted
                               |                  |                          |         |
                               +-> TooMany        +-> NotStarted             +---------+-> NotQueued (never had a job)

Batch does the attempts, and waits for capacity itself. A run has one service job, of which the name follows from the
execution's ARN, so that it is found again without a record of it.

Sources: https://docs.aws.amazon.com/batch/latest/userguide/service-jobs.html,
https://docs.aws.amazon.com/batch/latest/APIReference/API_SubmitServiceJob.html
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cdk_distributed_training.engines.batch_job import (
    NOT_STARTED,
    SUBMISSION_PROBLEM,
    batch_job_name,
    fits,
    too_many,
)
from cdk_distributed_training.engines.call_retries import BRIEF
from cdk_distributed_training.engines.job_expressions import expression
from cdk_distributed_training.engines.look_states import look_states
from cdk_distributed_training.engines.pauses import first_pause
from cdk_distributed_training.engines.run_request import (
    EXECUTION_ARN,
    EXECUTION_NAME,
    own_count,
    own_tags,
    run_overrides,
    run_request,
)
from cdk_distributed_training.engines.training_job_end import COMPLETED, NOT_COMPLETED, TIME_IS_UP

# what AWS Batch puts before the name of each training job that it creates
TRAINING_JOB_PREFIXES = ("AWSBatch", "awsbatch")

_ENDED = '$states.input.Status in ["SUCCEEDED", "FAILED"]'


@dataclass(frozen=True, kw_only=True)
class QueuedStates:
    """What the states of one queued job depend on.

    Attributes:
        partition: The AWS partition, for the integration's ARN.
        job_name: The job's own name.
        request: The `CreateTrainingJob` request without a name.
        submission: Members of `SubmitServiceJob` besides the job's name and payload.
        poll_interval: Shortest time between two looks at the job, in seconds.
        max_instances: Most machines that the queue has; `None` if nobody knows.
    """

    partition: str
    job_name: str
    request: Mapping[str, Any]
    submission: Mapping[str, Any]
    poll_interval: int
    max_instances: float | None = None

    def definition(self) -> dict[str, Any]:
        """The whole state machine."""
        return {
            "Comment": "Queues one SageMaker training job; input: {hyperparameters?: object, instance_count?: number}",
            "QueryLanguage": "JSONata",
            "StartAt": "Defaults",
            "States": {**self._prepare(), **self._submit(), **self._watch(), **_END},
        }

    def _prepare(self) -> dict[str, Any]:
        defaults = {
            "job_name": self.job_name,
            "hyperparameters": self.request.get("HyperParameters", {}),
            **own_count(self.request),
            **own_tags(self.request),
        }
        if self.max_instances is not None:
            defaults["max_instances"] = self.max_instances
        guarded = {"instance_count", "max_instances"} <= defaults.keys()
        name = batch_job_name("$defaults.job_name", EXECUTION_ARN, EXECUTION_NAME)
        return {
            "Defaults": {"Type": "Pass", "Assign": {"defaults": defaults}, "Next": "Overrides"},
            "Overrides": {
                "Type": "Pass",
                "Assign": {"overrides": run_overrides(self.request), "jobName": expression(name)},
                "Next": "Fits" if guarded else "Payload",
            },
            **({"Fits": fits("Payload"), "TooMany": too_many("machines of the queue, in which")} if guarded else {}),
            "Payload": {
                "Type": "Pass",
                "Assign": {"payload": run_request(self.request, name="$jobName")},
                "Next": "Submit",
            },
        }

    def _submit(self) -> dict[str, Any]:
        return {
            "Submit": {
                "Type": "Task",
                "Resource": f"arn:{self.partition}:states:::aws-sdk:batch:submitServiceJob",
                "Arguments": {
                    **self.submission,
                    "JobName": expression("$jobName"),
                    "ServiceJobType": "SAGEMAKER_TRAINING",
                    "ServiceRequestPayload": expression("$string($payload)"),
                    # an answer that gets lost makes no second job
                    "ClientToken": expression(f'$substring($hash({EXECUTION_ARN}, "SHA-256"), 0, 64)'),
                },
                "Assign": {"jobId": expression("$states.result.JobId"), **first_pause(self.poll_interval)},
                "Retry": [{**BRIEF[0], "ErrorEquals": ["Batch.BatchException", "Batch.ServerException"]}],
                "Catch": [{"ErrorEquals": ["States.ALL"], "Output": SUBMISSION_PROBLEM, "Next": "NotStarted"}],
                "Next": "Wait",
            },
        }

    def _watch(self) -> dict[str, Any]:
        return {
            **look_states(
                f"arn:{self.partition}:states:::aws-sdk:batch:describeServiceJob",
                {"JobId": expression("$jobId")},
                output=_LOOK,
                poll_interval=self.poll_interval,
            ),
            "Ended": {
                "Type": "Choice",
                "Choices": [
                    {
                        "Condition": expression(f"{_ENDED} and $exists($states.input.TrainingJobArn)"),
                        "Assign": {"seen": expression("$states.input")},
                        "Next": "Describe",
                    },
                    {"Condition": expression(_ENDED), "Next": "NotQueued"},
                ],
                "Default": "Wait",
            },
            "Describe": {
                "Type": "Task",
                "Resource": f"arn:{self.partition}:states:::aws-sdk:sagemaker:describeTrainingJob",
                "Arguments": {"TrainingJobName": expression('$substringAfter($seen.TrainingJobArn, "/")')},
                "Output": _OUTCOME,
                "Retry": BRIEF,
                # Batch knows enough to tell success from failure
                "Catch": [{"ErrorEquals": ["States.ALL"], "Output": _OUTCOME_BY_BATCH, "Next": "Outcome"}],
                "Next": "Outcome",
            },
            "Outcome": {
                "Type": "Choice",
                "Choices": [
                    {
                        "Condition": expression(f'$seen.Status = "SUCCEEDED" and $not({TIME_IS_UP})'),
                        "Next": "Completed",
                    }
                ],
                "Default": "NotCompleted",
            },
        }


_LOOK = expression(
    """{
        "JobId": $jobId,
        "Status": $states.result.Status,
        "StatusReason": $states.result.StatusReason,
        "IsTerminated": $states.result.IsTerminated = true,
        "TrainingJobArn": $states.result.LatestAttempt.ServiceResourceId.Value
    }"""
)
_OUTCOME = expression(
    """{
        "TrainingJobName": $states.result.TrainingJobName,
        "TrainingJobStatus": $states.result.TrainingJobStatus,
        "SecondaryStatus": $states.result.SecondaryStatus,
        "FailureReason": $exists($states.result.FailureReason)
            ? $states.result.FailureReason : ($seen.Status = "FAILED" ? $seen.StatusReason),
        "ModelArtifacts": $states.result.ModelArtifacts
    }"""
)
_OUTCOME_BY_BATCH = expression(
    """{
        "TrainingJobName": $substringAfter($seen.TrainingJobArn, "/"),
        "TrainingJobStatus": $seen.Status = "SUCCEEDED" ? "Completed" : $seen.IsTerminated ? "Stopped" : "Failed",
        "SecondaryStatus": $seen.Status,
        "FailureReason": $seen.StatusReason
    }"""
)

_END: dict[str, Any] = {
    "Completed": COMPLETED,
    "NotCompleted": NOT_COMPLETED,
    "NotQueued": {
        "Type": "Fail",
        "Error": expression('$states.input.IsTerminated ? "TrainingJobStopped" : "TrainingJobNotStarted"'),
        "Cause": expression(
            """$jobName & " left the queue before it started" & ($exists($states.input.StatusReason)
                ? ": " & $states.input.StatusReason : "")"""
        ),
    },
    "NotStarted": NOT_STARTED,
}
