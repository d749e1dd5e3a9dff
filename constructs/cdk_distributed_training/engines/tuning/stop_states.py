"""The states that stop the tuning job of an execution that ended without waiting for it.

The tuning job's name follows from the execution's ARN. The look is taken twice, because a tuning job that was created
in the very moment of the abort may not be there yet.

    Begin -> Name -> Pause -> Look -> Runs -> Stop -> Done
                       ^       |       |        +-> LookAgain -> StillRuns -> NotStopped
                       |    Missing    |
                       +--- Again <----+
"""

from __future__ import annotations

from typing import Any

from cdk_distributed_training.engines.call_retries import BRIEF
from cdk_distributed_training.engines.integration import problem
from cdk_distributed_training.engines.job_expressions import expression
from cdk_distributed_training.engines.second_search import FIRST_SEARCH, SEARCH_AGAIN, pause
from cdk_distributed_training.engines.tuning.tuning_states import tuning_job_name

_RUNS = expression('$states.input.HyperParameterTuningJobStatus = "InProgress"')


def stop_tuning_definition(*, partition: str, prefix: str) -> dict[str, Any]:
    """The whole state machine; its input is `execution_arn` and `execution_name`.

    Args:
        partition: The AWS partition, for the integrations' ARNs.
        prefix: What the names of tuning jobs begin with.
    """
    sdk = f"arn:{partition}:states:::aws-sdk:sagemaker"
    named = {"HyperParameterTuningJobName": expression("$tuningJobName")}
    look = {"Type": "Task", "Resource": f"{sdk}:describeHyperParameterTuningJob", "Arguments": named}
    status = expression('{"HyperParameterTuningJobStatus": $states.result.HyperParameterTuningJobStatus}')
    failed = {"ErrorEquals": ["States.ALL"], "Assign": problem("errorOutput", "Error", "Cause")}
    return {
        "Comment": "Stops the tuning job of an execution; input: {execution_arn: string, execution_name: string}",
        "QueryLanguage": "JSONata",
        "StartAt": "Begin",
        "States": {
            "Begin": {"Type": "Pass", "Assign": {"prefix": prefix, **FIRST_SEARCH}, "Next": "Name"},
            "Name": {
                "Type": "Pass",
                "Assign": {"tuningJobName": expression(tuning_job_name("$prefix", "$states.input.execution_arn"))},
                "Next": "Pause",
            },
            "Pause": pause("Look"),
            "Look": {**look, "Output": status, "Catch": [{**failed, "Next": "Missing"}], "Next": "Runs"},
            "Missing": {
                "Type": "Choice",
                "Choices": [
                    {
                        "Condition": expression(
                            '$contains($problem.error & " " & $problem.cause, /NotFound|not find|not exist/)'
                        ),
                        "Next": "Again",
                    }
                ],
                "Default": "NotStopped",
            },
            "Runs": {"Type": "Choice", "Choices": [{"Condition": _RUNS, "Next": "Stop"}], "Default": "Again"},
            "Again": {"Type": "Choice", "Choices": [SEARCH_AGAIN], "Default": "Done"},
            "Stop": {
                "Type": "Task",
                "Resource": f"{sdk}:stopHyperParameterTuningJob",
                "Arguments": named,
                "Retry": BRIEF,
                # it may have ended between the look and the stop, which SageMaker then refuses
                "Catch": [{**failed, "Next": "LookAgain"}],
                "Next": "Done",
            },
            "LookAgain": {**look, "Output": status, "Retry": BRIEF, "Next": "StillRuns"},
            "StillRuns": {"Type": "Choice", "Choices": [{"Condition": _RUNS, "Next": "NotStopped"}], "Default": "Done"},
            "NotStopped": {
                "Type": "Fail",
                "Error": "TuningJobNotStopped",
                "Cause": expression('$tuningJobName & ": " & $problem.error & ": " & $problem.cause'),
            },
            "Done": {"Type": "Succeed"},
        },
    }
