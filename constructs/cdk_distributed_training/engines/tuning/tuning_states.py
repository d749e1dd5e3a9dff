"""The states that run one tuning job over a training job.

    Defaults -> Overrides -> Tuned -> Create -> Wait <-> Look -> Ended -> Completed | NotCompleted
                               |       ^ |
                               |       | +-> MayRetry -> Backoff (no quota, throttling)
                               |       +-----------------'|
                               +-> TunedGiven             +-> NotStarted

The tuning job's name follows from the execution's ARN: it has at most 32 characters.

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateHyperParameterTuningJob.html
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cdk_distributed_training.engines.another_attempt import another_attempt, not_started
from cdk_distributed_training.engines.integration import problem
from cdk_distributed_training.engines.job_expressions import expression
from cdk_distributed_training.engines.look_states import look_states
from cdk_distributed_training.engines.pauses import first_pause
from cdk_distributed_training.engines.run_request import EXECUTION_ARN, own_count, own_tags, run_overrides, run_request
from cdk_distributed_training.engines.tuning.trial_definition import trial_definition

# 32 characters less a hyphen and 8 digits
LONGEST_PREFIX = 23


def tuning_job_name(prefix: str, execution_arn: str) -> str:
    """JSONata for the name of an execution's tuning job.

    Args:
        prefix: JSONata for what it begins with.
        execution_arn: JSONata for the execution's ARN.
    """
    return f'{prefix} & "-" & $substring($hash({execution_arn}, "SHA-256"), 0, 8)'


@dataclass(frozen=True, kw_only=True)
class TuningStates:
    """What the states of one tuning job depend on.

    Attributes:
        partition: The AWS partition, for the integration's ARN.
        prefix: What the names of tuning jobs begin with.
        request: The `CreateTrainingJob` request without a name.
        config: `HyperParameterTuningJobConfig`.
        call: Further members of the call.
        tuned: Names of the tuned hyperparameters.
        poll_interval: Shortest time between two looks, in seconds.
        as_json: Writes a list as JSON, tokens unharmed.
    """

    partition: str
    prefix: str
    request: Mapping[str, Any]
    config: Mapping[str, Any]
    call: Mapping[str, Any]
    tuned: Sequence[str]
    poll_interval: int
    as_json: Callable[[Sequence[str]], str]

    def definition(self) -> dict[str, Any]:
        """The whole state machine."""
        return {
            "Comment": "Tunes one SageMaker training job; input: {hyperparameters?: object, instance_count?: number}",
            "QueryLanguage": "JSONata",
            "StartAt": "Defaults",
            "States": {**self._prepare(), **self._create(), **self._watch(), **_END},
        }

    def _prepare(self) -> dict[str, Any]:
        constant = {
            name: value for name, value in self.request.get("HyperParameters", {}).items() if name not in self.tuned
        }
        defaults = {
            "prefix": self.prefix,
            "hyperparameters": constant,
            "tuned": list(self.tuned),
            **own_count(self.request),
            **own_tags(self.request),
        }
        if "CheckpointConfig" in self.request:
            defaults["checkpoints"] = self.request["CheckpointConfig"]["S3Uri"]
        return {
            "Defaults": {"Type": "Pass", "Assign": {"defaults": defaults, "attempt": 0}, "Next": "Overrides"},
            "Overrides": {
                "Type": "Pass",
                "Assign": {
                    "overrides": run_overrides(self.request),
                    "tuningJobName": expression(tuning_job_name("$defaults.prefix", EXECUTION_ARN)),
                    "alsoTuned": expression(
                        """[$filter($keys($states.input.hyperparameters),
                            function($name) { $name in $defaults.tuned })]"""
                    ),
                },
                "Next": "Tuned",
            },
            "Tuned": {
                "Type": "Choice",
                "Choices": [{"Condition": expression("$count($alsoTuned) > 0"), "Next": "TunedGiven"}],
                "Default": "Create",
            },
            "TunedGiven": {
                "Type": "Fail",
                "Error": "TuningJobNotStarted",
                "Cause": expression(
                    '"hyperparameters that are tuned cannot be set by the execution input: " & $join($alsoTuned, ", ")'
                ),
            },
        }

    def _create(self) -> dict[str, Any]:
        return {
            "Create": {
                "Type": "Task",
                "Resource": f"arn:{self.partition}:states:::aws-sdk:sagemaker:createHyperParameterTuningJob",
                "Arguments": {
                    "HyperParameterTuningJobName": expression("$tuningJobName"),
                    "HyperParameterTuningJobConfig": dict(self.config),
                    "TrainingJobDefinition": trial_definition(
                        run_request(self.request),
                        as_json=self.as_json,
                        checkpoint_uri=expression('$defaults.checkpoints & "/" & $tuningJobName'),
                    ),
                    **self.call,
                },
                "Assign": first_pause(self.poll_interval),
                "Catch": [
                    {
                        "ErrorEquals": ["States.ALL"],
                        "Assign": {
                            "attempt": expression("$attempt + 1"),
                            **problem("errorOutput", "Error", "Cause"),
                        },
                        "Next": "MayRetry",
                    }
                ],
                "Next": "Wait",
            },
            **another_attempt("Create"),
        }

    def _watch(self) -> dict[str, Any]:
        return {
            **look_states(
                f"arn:{self.partition}:states:::aws-sdk:sagemaker:describeHyperParameterTuningJob",
                {"HyperParameterTuningJobName": expression("$tuningJobName")},
                output=_LOOK,
                poll_interval=self.poll_interval,
            ),
            "Ended": {
                "Type": "Choice",
                "Choices": [
                    {
                        "Condition": expression('$states.input.HyperParameterTuningJobStatus = "Completed"'),
                        "Next": "Completed",
                    },
                    {
                        "Condition": expression(
                            '$states.input.HyperParameterTuningJobStatus in ["InProgress", "Stopping"]'
                        ),
                        "Next": "Wait",
                    },
                ],
                "Default": "NotCompleted",
            },
        }


_LOOK = expression(
    """{
        "HyperParameterTuningJobName": $tuningJobName,
        "HyperParameterTuningJobStatus": $states.result.HyperParameterTuningJobStatus,
        "FailureReason": $states.result.FailureReason,
        "BestTrainingJob": $states.result.BestTrainingJob,
        "TrainingJobStatusCounters": $states.result.TrainingJobStatusCounters
    }"""
)
_END: dict[str, Any] = {
    "Completed": {"Type": "Succeed"},
    "NotCompleted": {
        "Type": "Fail",
        "Error": expression('"TuningJob" & $states.input.HyperParameterTuningJobStatus'),
        "Cause": expression(
            """$tuningJobName & ": " & ($exists($states.input.FailureReason)
                ? $states.input.FailureReason : $states.input.HyperParameterTuningJobStatus)"""
        ),
    },
    "NotStarted": not_started("TuningJobNotStarted", name="$tuningJobName"),
}
