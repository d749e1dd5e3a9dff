"""The states that stop the training jobs of an execution that ended without waiting for them.

Which jobs these are is asked of SageMaker: names begin with the run's name, and each job carries the ARN of its
execution in its environment, or as a tag where it has none, which is compared before anything is stopped. The search
runs twice, because a job that was created in the very moment of the abort may not be listed yet.

    Begin -> Pause -> List -> Each job (Describe [-> Tags] -> Ours -> Stop) -> More -> Again -> Done
"""

from __future__ import annotations

from typing import Any

from cdk_distributed_training.checks.rules.state_machine import EXECUTION_TAG, EXECUTION_VARIABLE
from cdk_distributed_training.engines.call_retries import BRIEF
from cdk_distributed_training.engines.job_expressions import execution_mark, expression, run_name
from cdk_distributed_training.engines.second_search import FIRST_SEARCH, SEARCH_AGAIN, pause


def stop_definition(*, partition: str, job_name: str, by_tag: bool = False) -> dict[str, Any]:
    """The whole state machine; its input is `execution_arn` and `execution_name`.

    Args:
        partition: The AWS partition, for the integrations' ARNs.
        job_name: The job's own name, with which the names of its runs begin.
        by_tag: Whether the jobs carry their execution's ARN as a tag, in place of a variable.
    """
    sdk = f"arn:{partition}:states:::aws-sdk:sagemaker"
    return {
        "Comment": "Stops the training jobs of an execution; input: {execution_arn: string, execution_name: string}",
        "QueryLanguage": "JSONata",
        "StartAt": "Begin",
        "States": {
            "Begin": {
                "Type": "Pass",
                "Assign": {
                    "jobName": job_name,
                    "executionArn": expression("$states.input.execution_arn"),
                    "executionName": expression("$states.input.execution_name"),
                    **FIRST_SEARCH,
                    "page": {},
                },
                "Next": "Pause",
            },
            "Pause": pause("List"),
            "List": {
                "Type": "Task",
                "Resource": f"{sdk}:listTrainingJobs",
                "Arguments": expression(
                    f"""$merge([$page, {{
                        "NameContains": {run_name("$jobName", "$executionName")},
                        "StatusEquals": "InProgress",
                        "MaxResults": 100
                    }}])"""
                ),
                "Assign": {
                    "page": expression(
                        '$exists($states.result.NextToken) ? {"NextToken": $states.result.NextToken} : {}'
                    )
                },
                "Output": expression("[$states.result.TrainingJobSummaries.TrainingJobName]"),
                "Retry": BRIEF,
                "Next": "EachJob",
            },
            "EachJob": {
                "Type": "Map",
                "Items": expression("$states.input"),
                "MaxConcurrency": 5,
                "ItemProcessor": {
                    "ProcessorConfig": {"Mode": "INLINE"},
                    "StartAt": "Describe",
                    "States": _stop_one(sdk, by_tag=by_tag),
                },
                "Next": "More",
            },
            "More": {
                "Type": "Choice",
                "Choices": [
                    {"Condition": expression("$exists($page.NextToken)"), "Next": "List"},
                    SEARCH_AGAIN,
                ],
                "Default": "Done",
            },
            "Done": {"Type": "Succeed"},
        },
    }


def _look(sdk: str) -> dict[str, Any]:
    """Whether a job runs, and carries the execution in its environment."""
    return {
        "Describe": {
            "Type": "Task",
            "Resource": f"{sdk}:describeTrainingJob",
            "Arguments": {"TrainingJobName": expression("$states.input")},
            "Output": expression(
                f"""{{
                    "TrainingJobName": $states.input,
                    "Stop": $states.result.TrainingJobStatus = "InProgress"
                        and $states.result.Environment.{EXECUTION_VARIABLE} = $executionArn
                }}"""
            ),
            "Retry": BRIEF,
            "Next": "Ours",
        }
    }


def _look_at_tags(sdk: str) -> dict[str, Any]:
    """Whether a job runs, and carries the execution as a tag."""
    mark = execution_mark("$executionArn")
    return {
        "Describe": {
            "Type": "Task",
            "Resource": f"{sdk}:describeTrainingJob",
            "Arguments": {"TrainingJobName": expression("$states.input")},
            "Output": expression(
                """{
                    "TrainingJobName": $states.input,
                    "Arn": $states.result.TrainingJobArn,
                    "Runs": $states.result.TrainingJobStatus = "InProgress"
                }"""
            ),
            "Retry": BRIEF,
            "Next": "Tags",
        },
        "Tags": {
            "Type": "Task",
            "Resource": f"{sdk}:listTags",
            "Arguments": {"ResourceArn": expression("$states.input.Arn"), "MaxResults": 100},
            "Output": expression(
                f"""(
                    $mark := {mark};
                    {{
                        "TrainingJobName": $states.input.TrainingJobName,
                        "Stop": $states.input.Runs
                            and $exists($states.result.Tags[Key = "{EXECUTION_TAG}" and Value = $mark])
                    }}
                )"""
            ),
            "Retry": BRIEF,
            "Next": "Ours",
        },
    }


def _stop_one(sdk: str, *, by_tag: bool) -> dict[str, Any]:
    # a job may end between the look and the stop, which SageMaker then refuses: what counts is whether it still runs
    return {
        **(_look_at_tags(sdk) if by_tag else _look(sdk)),
        "Ours": {
            "Type": "Choice",
            "Choices": [{"Condition": expression("$states.input.Stop"), "Next": "Stop"}],
            "Default": "LeftAlone",
        },
        "LeftAlone": {"Type": "Succeed"},
        "Stop": {
            "Type": "Task",
            "Resource": f"{sdk}:stopTrainingJob",
            "Arguments": {"TrainingJobName": expression("$states.input.TrainingJobName")},
            "Output": expression("$states.input.TrainingJobName"),
            "Catch": [
                {
                    "ErrorEquals": ["States.ALL"],
                    "Output": expression(
                        """{
                            "TrainingJobName": $states.input.TrainingJobName,
                            "Cause": $states.errorOutput.Error & ": " & $states.errorOutput.Cause
                        }"""
                    ),
                    "Next": "LookAgain",
                }
            ],
            "Retry": BRIEF,
            "End": True,
        },
        "LookAgain": {
            "Type": "Task",
            "Resource": f"{sdk}:describeTrainingJob",
            "Arguments": {"TrainingJobName": expression("$states.input.TrainingJobName")},
            "Output": expression(
                """{
                    "Cause": $states.input.Cause,
                    "Runs": $states.result.TrainingJobStatus = "InProgress"
                }"""
            ),
            "Retry": BRIEF,
            "Next": "Runs",
        },
        "Runs": {
            "Type": "Choice",
            "Choices": [{"Condition": expression("$states.input.Runs"), "Next": "NotStopped"}],
            "Default": "LeftAlone",
        },
        "NotStopped": {
            "Type": "Fail",
            "Error": "TrainingJobNotStopped",
            "Cause": expression("$states.input.Cause"),
        },
    }
