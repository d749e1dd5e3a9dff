"""The states that submit one multi-node parallel job and wait for it.

    Defaults -> Overrides -> Fits -> Submit -> Wait <-> Look -> Ended -> Completed | NotCompleted
                               |        |
                               |        +-> Again (throttled) -> Pause -> Submit
                               +-> TooMany       +-> NotStarted

Batch does the attempts, and waits for capacity itself. A run has one job, of which the name follows from the
execution's ARN, so that it is found again without a record of it.

Sources: https://docs.aws.amazon.com/batch/latest/APIReference/API_SubmitJob.html,
https://docs.aws.amazon.com/batch/latest/APIReference/API_DescribeJobs.html
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cdk_distributed_training.checks.rules.state_machine import EXECUTION_VARIABLE
from cdk_distributed_training.engines.batch_job import (
    NOT_STARTED,
    SUBMISSION_PROBLEM,
    batch_job_name,
    fits,
    too_many,
)
from cdk_distributed_training.engines.call_retries import TRY_AGAIN
from cdk_distributed_training.engines.job_expressions import expression
from cdk_distributed_training.engines.look_states import look_states
from cdk_distributed_training.engines.pauses import first_pause
from cdk_distributed_training.engines.run_request import EXECUTION_ARN, EXECUTION_NAME, run_overrides

# every node of the job: with an open end, so that a run may have another number of nodes
ALL_NODES = "0:"
# four minutes in all, each pause twice as long as the one before
_MOST_REFUSALS = 7
_TIME_IS_UP = '$contains($states.input.StatusReason, "exceeded timeout")'


@dataclass(frozen=True, kw_only=True)
class MultiNodeStates:
    """What the states of one multi-node parallel job depend on.

    Attributes:
        partition: The AWS partition, for the integration's ARN.
        job_name: The job's own name.
        request: The `CreateTrainingJob` request without a name.
        job_definition_arn: The job definition.
        job_queue_arn: The queue.
        poll_interval: Shortest time between two looks at the job, in seconds.
        max_instances: Most machines that run at a time.
    """

    partition: str
    job_name: str
    request: Mapping[str, Any]
    job_definition_arn: str
    job_queue_arn: str
    poll_interval: int
    max_instances: float

    def definition(self) -> dict[str, Any]:
        """The whole state machine."""
        return {
            "Comment": "Runs one multi-node parallel job; input: {hyperparameters?: object, instance_count?: number}",
            "QueryLanguage": "JSONata",
            "StartAt": "Defaults",
            "States": {**self._prepare(), **self._submit(), **self._watch(), **_END},
        }

    def _prepare(self) -> dict[str, Any]:
        defaults = {
            "job_name": self.job_name,
            "job_definition": self.job_definition_arn,
            "job_queue": self.job_queue_arn,
            "hyperparameters": self.request.get("HyperParameters", {}),
            "instance_count": self.request["ResourceConfig"]["InstanceCount"],
            "max_instances": self.max_instances,
        }
        name = batch_job_name("$defaults.job_name", EXECUTION_ARN, EXECUTION_NAME)
        return {
            "Defaults": {"Type": "Pass", "Assign": {"defaults": defaults}, "Next": "Overrides"},
            "Overrides": {
                "Type": "Pass",
                "Assign": {
                    "overrides": run_overrides(self.request),
                    "jobName": expression(name),
                    "given": expression(_GIVEN),
                    "refusals": 0,
                },
                "Next": "Fits",
            },
            "Fits": fits("Submit"),
        }

    def _submit(self) -> dict[str, Any]:
        variables = {
            # only what differs: ECS takes 8,192 characters of overrides, and a job may have many hyperparameters
            "TRAINING_RUN_HYPERPARAMETERS": "$string($given)",
            "TRAINING_JOB_NAME": "$jobName",
            EXECUTION_VARIABLE: EXECUTION_ARN,
        }
        environment = [{"Name": name, "Value": expression(value)} for name, value in variables.items()]
        return {
            "Submit": {
                "Type": "Task",
                "Resource": f"arn:{self.partition}:states:::aws-sdk:batch:submitJob",
                "Arguments": {
                    "JobName": expression("$jobName"),
                    "JobDefinition": expression("$defaults.job_definition"),
                    "JobQueue": expression("$defaults.job_queue"),
                    "NodeOverrides": {
                        "NumNodes": expression("$overrides.instance_count"),
                        "NodePropertyOverrides": [
                            {"TargetNodes": ALL_NODES, "ContainerOverrides": {"Environment": environment}}
                        ],
                    },
                },
                "Assign": {"jobId": expression("$states.result.JobId"), **first_pause(self.poll_interval)},
                # SubmitJob has no token that makes a second call harmless: only what was surely refused comes again
                "Catch": [
                    {
                        "ErrorEquals": ["States.ALL"],
                        "Assign": {"refusals": expression("$refusals + 1")},
                        "Output": SUBMISSION_PROBLEM,
                        "Next": "Again",
                    }
                ],
                "Next": "Wait",
            },
            "Again": {
                "Type": "Choice",
                "Choices": [
                    {
                        "Condition": expression(
                            f"$refusals <= {_MOST_REFUSALS} and $contains($states.input.Cause, {TRY_AGAIN})"
                        ),
                        "Next": "Pause",
                    }
                ],
                "Default": "NotStarted",
            },
            "Pause": {"Type": "Wait", "Seconds": expression("$power(2, $refusals)"), "Next": "Submit"},
        }

    def _watch(self) -> dict[str, Any]:
        return {
            **look_states(
                f"arn:{self.partition}:states:::aws-sdk:batch:describeJobs",
                {"Jobs": [expression("$jobId")]},
                output=_LOOK,
                poll_interval=self.poll_interval,
            ),
            "Ended": {
                "Type": "Choice",
                "Choices": [
                    {"Condition": expression('$states.input.Status = "SUCCEEDED"'), "Next": "Completed"},
                    {"Condition": expression('$states.input.Status = "FAILED"'), "Next": "NotCompleted"},
                ],
                "Default": "Wait",
            },
        }


# what is wrong with it, the overrides' own expression says
_GIVEN = """$type($states.input.hyperparameters) = "object"
    ? $merge([{}, $each($states.input.hyperparameters, function($value, $name) { { $name: $string($value) } })]) : {}"""
_LOOK = expression(
    """{
        "JobId": $jobId,
        "JobName": $jobName,
        "Status": $states.result.Jobs[0].Status,
        "StatusReason": $exists($states.result.Jobs[0].StatusReason) ? $states.result.Jobs[0].StatusReason : "",
        "IsTerminated": $states.result.Jobs[0].IsTerminated = true
    }"""
)
_END: dict[str, Any] = {
    "Completed": {"Type": "Succeed"},
    "NotCompleted": {
        "Type": "Fail",
        "Error": expression(
            f"""{_TIME_IS_UP} ? "TrainingJobMaxRuntimeExceeded"
                : $states.input.IsTerminated ? "TrainingJobStopped" : "TrainingJobFailed\""""
        ),
        "Cause": expression(
            """$jobName & ": " & $states.input.StatusReason & " (job " & $jobId & "; why it failed stands in the log of"
                & " its nodes, and in output/failure of its folder)\""""
        ),
    },
    "TooMany": too_many("machines that may run (max_instances), for which"),
    "NotStarted": NOT_STARTED,
}
