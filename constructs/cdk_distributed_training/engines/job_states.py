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

from cdk_distributed_training.checks.rules.state_machine import EXECUTION_TAG, EXECUTION_VARIABLE
from cdk_distributed_training.engines.another_attempt import another_attempt
from cdk_distributed_training.engines.integration import Integration, problem, start_call
from cdk_distributed_training.engines.job_expressions import execution_mark, expression, overrides, run_name
from cdk_distributed_training.request.override import overridable, override

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
        members = overridable(self.request)
        defaults = {"job_name": self.job_name, "hyperparameters": self.request.get("HyperParameters", {})}
        if "instance_count" in members:
            defaults["instance_count"] = self.request["ResourceConfig"]["InstanceCount"]
        if self._is_serverless:
            defaults["tags"] = self.request.get("Tags", [])
        return {
            "Defaults": {"Type": "Pass", "Assign": {"defaults": defaults, "attempt": 0}, "Next": "Overrides"},
            "Overrides": {
                "Type": "Pass",
                "Assign": {
                    "overrides": expression(overrides("$defaults", "$states.input", members=members)),
                    "runName": expression(run_name("$defaults.job_name", "$states.context.Execution.Name")),
                },
                "Next": "Attempt",
            },
        }

    def _start(self) -> dict[str, Any]:
        call = start_call(self.integration)
        counted = "instance_count" in overridable(self.request)
        request = override(
            call.sent(self.request),
            name=expression("$trainingJobName"),
            instance_count=expression("$overrides.instance_count") if counted else None,
            hyperparameters=expression("$overrides.hyperparameters"),
        )
        request.update(self._mark(request))
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
                "Arguments": request,
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

    @property
    def _is_serverless(self) -> bool:
        return "ServerlessJobConfig" in self.request

    def _mark(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The execution's ARN, by which its jobs are found again; a serverless job has no environment to carry it."""
        if self._is_serverless:
            mark = f'{{"Key": "{EXECUTION_TAG}", "Value": {execution_mark("$states.context.Execution.Id")}}}'
            return {"Tags": expression(f"$append($defaults.tags, [{mark}])")}
        variable = {EXECUTION_VARIABLE: expression("$states.context.Execution.Id")}
        return {"Environment": {**request.get("Environment", {}), **variable}}

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
            # Looking is free, and giving up would leave a job that nobody watches: about four hours of errors pass.
            "Retry": [
                {
                    "ErrorEquals": ["States.ALL"],
                    "IntervalSeconds": 5,
                    "BackoffRate": 2,
                    "MaxDelaySeconds": 600,
                    "MaxAttempts": 30,
                    "JitterStrategy": "FULL",
                }
            ],
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


_TIME_IS_UP = '$states.input.SecondaryStatus in ["MaxRuntimeExceeded", "MaxWaitTimeExceeded"]'
_COMPLETED = f'$states.input.TrainingJobStatus = "Completed" and $not({_TIME_IS_UP})'
_ENDED = '$states.input.TrainingJobStatus in ["Failed", "Stopped", "Completed"]'
_FOUND_NO_MACHINES = """
    $states.input.TrainingJobStatus = "Failed" and $not($states.input.Started)
        and $contains($states.input.FailureReason, /CapacityError|InsufficientCapacity/)
"""

_END: dict[str, Any] = {
    "Completed": {"Type": "Succeed"},
    "NotCompleted": {
        "Type": "Fail",
        "Error": expression(
            f'"TrainingJob" & ({_TIME_IS_UP} ? $states.input.SecondaryStatus : $states.input.TrainingJobStatus)'
        ),
        "Cause": expression(
            """$states.input.TrainingJobName & ": " & ($exists($states.input.FailureReason)
                ? $states.input.FailureReason
                : $states.input.TrainingJobStatus & ", " & $states.input.SecondaryStatus)"""
        ),
    },
    "NotStarted": {
        "Type": "Fail",
        "Error": "TrainingJobNotStarted",
        "Cause": expression(
            '$problem.error & ": " & $problem.cause & " (attempt " & $attempt & ", " & $trainingJobName & ")"'
        ),
    },
}
