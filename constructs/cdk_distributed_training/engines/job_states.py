"""The states that run one training job, in the Amazon States Language with JSONata.

    Defaults -> Overrides -> Attempt -> Create -> Wait <-> Describe -> Ended -> Completed | NotCompleted
                                ^          |                             |
                                +- Backoff <- MayRetry <-----------------+   (no capacity, quota, throttling)
                                                 +-> NotStarted

With the optimized integration, Create waits for the job's end itself and leads to Describe; its errors lead to
LookAfterError, which is Describe for a job that may not exist, and leads to Ended or MayRetry.

Literals stand in `Defaults` and in `Create`, expressions elsewhere: nothing of the user's becomes part of an
expression. No member is ever null: CDK's JSON drops nulls, which changes a state's meaning.

Sources: https://docs.aws.amazon.com/step-functions/latest/dg/transforming-data.html,
https://docs.aws.amazon.com/step-functions/latest/dg/supported-services-awssdk.html
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cdk_distributed_training.engines.another_attempt import another_attempt, not_started
from cdk_distributed_training.engines.call_retries import PATIENT
from cdk_distributed_training.engines.integration import Integration, problem, start_call
from cdk_distributed_training.engines.job_expressions import expression, run_name
from cdk_distributed_training.engines.run_request import (
    EXECUTION_NAME,
    own_count,
    own_tags,
    run_overrides,
    run_request,
)
from cdk_distributed_training.engines.training_job_end import COMPLETED, NOT_COMPLETED, TIME_IS_UP

# An execution may have 25,000 history events. A look takes 9 (wait 2, describe 5, choice 2); with the waiting time at
# a thousand-eight-hundredth of the job's limit, and the early looks in quicker succession, a job that runs all of its
# time leaves room for a third more: https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html
_LOOKS = 1800
# while a job is young it is looked at every fiftieth of its age
_AGE_SHARE = 0.02

_SDK = "aws-sdk:sagemaker"


@dataclass(frozen=True, kw_only=True)
class JobStates:
    """What the states of one job depend on.

    Attributes:
        partition: The AWS partition, for the integration's ARN.
        job_name: The job's own name, with which the names of its runs begin.
        request: The `CreateTrainingJob` request without a name.
        poll_interval: Shortest time between two looks at the job, in seconds.
        longest_run: Seconds after which SageMaker has ended the job.
        integration: How the job is created.
    """

    partition: str
    job_name: str
    request: Mapping[str, Any]
    poll_interval: int
    longest_run: float
    integration: Integration = "sdk"

    def definition(self) -> dict[str, Any]:
        """The whole state machine."""
        return {
            "Comment": "Runs one SageMaker training job; input: {hyperparameters?: object, instance_count?: number}",
            "QueryLanguage": "JSONata",
            "StartAt": "Defaults",
            "States": {**self._prepare(), **self._start(), **self._watch(), **_END},
        }

    def _prepare(self) -> dict[str, Any]:
        defaults = {
            "job_name": self.job_name,
            "hyperparameters": self.request.get("HyperParameters", {}),
            **own_count(self.request),
            **own_tags(self.request),
        }
        return {
            "Defaults": {"Type": "Pass", "Assign": {"defaults": defaults, "attempt": 0}, "Next": "Overrides"},
            "Overrides": {
                "Type": "Pass",
                "Assign": {
                    "overrides": run_overrides(self.request),
                    "runName": expression(run_name("$defaults.job_name", EXECUTION_NAME)),
                },
                "Next": "Attempt",
            },
        }

    def _start(self) -> dict[str, Any]:
        call = start_call(self.integration)
        first_look = {"age": 0, "pause": self.poll_interval}
        return {
            "Attempt": {
                "Type": "Pass",
                "Assign": {
                    "trainingJobName": expression('$runName & "-" & $substring($uuid(), 0, 8)'),
                    "attempt": expression("$attempt + 1"),
                },
                "Next": "Create",
            },
            "Create": {
                "Type": "Task",
                "Resource": f"arn:{self.partition}:states:::{call.resource}",
                "Arguments": run_request(call.sent(self.request), name="$trainingJobName"),
                "Assign": first_look,
                "Catch": [
                    {
                        "ErrorEquals": ["States.ALL"],
                        "Assign": {**first_look, **problem("errorOutput", "Error", "Cause")},
                        "Next": call.error_state,
                    }
                ],
                "Next": call.next_state,
            },
            **call.states(self._describe()),
            **another_attempt("Attempt"),
        }

    def _describe(self) -> dict[str, Any]:
        longest_pause = max(self.poll_interval, math.ceil(self.longest_run / _LOOKS))
        return {
            "Type": "Task",
            "Resource": f"arn:{self.partition}:states:::{_SDK}:describeTrainingJob",
            "Arguments": {"TrainingJobName": expression("$trainingJobName")},
            "Assign": {
                "age": expression("$age + $pause"),
                "pause": expression(
                    f"$max([{self.poll_interval}, $min([$floor(($age + $pause) * {_AGE_SHARE}), {longest_pause}])])"
                ),
            },
            "Output": expression(
                """{
                    "TrainingJobName": $trainingJobName,
                    "TrainingJobStatus": $states.result.TrainingJobStatus,
                    "SecondaryStatus": $states.result.SecondaryStatus,
                    "FailureReason": $states.result.FailureReason,
                    "ModelArtifacts": $states.result.ModelArtifacts,
                    "Started": $exists($states.result.TrainingStartTime)
                }"""
            ),
            "Retry": PATIENT,
            "Next": "Ended",
        }

    def _watch(self) -> dict[str, Any]:
        return {
            "Wait": {"Type": "Wait", "Seconds": expression("$pause"), "Next": "Describe"},
            "Describe": self._describe(),
            "Ended": {
                "Type": "Choice",
                "Choices": [
                    {"Condition": expression(_COMPLETED), "Next": "Completed"},
                    # SageMaker accepted the job and then found no machines: nothing ran and nothing is billed
                    {
                        "Condition": expression(_FOUND_NO_MACHINES),
                        "Assign": problem("input", "TrainingJobStatus", "FailureReason"),
                        "Next": "MayRetry",
                    },
                    {
                        "Condition": expression(_ENDED),
                        "Next": "NotCompleted",
                    },
                ],
                "Default": "Wait",
            },
        }


_COMPLETED = f'$states.input.TrainingJobStatus = "Completed" and $not({TIME_IS_UP})'
_ENDED = '$states.input.TrainingJobStatus in ["Failed", "Stopped", "Completed"]'
_FOUND_NO_MACHINES = """
    $states.input.TrainingJobStatus = "Failed" and $not($states.input.Started)
        and $contains($states.input.FailureReason, /CapacityError|InsufficientCapacity/)
"""

_END: dict[str, Any] = {
    "Completed": COMPLETED,
    "NotCompleted": NOT_COMPLETED,
    "NotStarted": not_started("TrainingJobNotStarted", name="$trainingJobName"),
}
