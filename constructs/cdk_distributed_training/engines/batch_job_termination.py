"""The states that end the job of AWS Batch of an execution that ended without waiting for it.

The job's name follows from the execution's ARN. The search runs twice, because a job that was submitted in the very
moment of the abort may not be listed yet.

    Begin -> Name -> Pause -> List -> EachJob (Terminate) -> More -> Done

Sources: https://docs.aws.amazon.com/batch/latest/APIReference/API_ListJobs.html,
https://docs.aws.amazon.com/batch/latest/APIReference/API_ListServiceJobs.html
"""

from __future__ import annotations

from typing import Any, Literal

from cdk_distributed_training.engines.batch_job import batch_job_name
from cdk_distributed_training.engines.call_retries import BRIEF
from cdk_distributed_training.engines.job_expressions import expression
from cdk_distributed_training.engines.second_search import FIRST_SEARCH, SEARCH_AGAIN, pause


def terminate_definition(
    *, kind: Literal["job", "service job"], partition: str, job_name: str, job_queue_arn: str
) -> dict[str, Any]:
    """The whole state machine; its input is `execution_arn` and `execution_name`.

    Args:
        kind: What Batch calls it, which its API's calls are named after.
        partition: The AWS partition, for the integrations' ARNs.
        job_name: The job's own name.
        job_queue_arn: The queue's ARN.
    """
    sdk = f"arn:{partition}:states:::aws-sdk:batch"
    noun = kind.title().replace(" ", "")
    name = batch_job_name("$prefix", "$states.input.execution_arn", "$states.input.execution_name")
    return {
        "Comment": f"Ends the {kind} of an execution; input: {{execution_arn: string, execution_name: string}}",
        "QueryLanguage": "JSONata",
        "StartAt": "Begin",
        "States": {
            "Begin": {
                "Type": "Pass",
                "Assign": {"prefix": job_name, "queue": job_queue_arn, **FIRST_SEARCH},
                "Next": "Name",
            },
            "Name": {
                "Type": "Pass",
                "Assign": {"jobName": expression(name), "executionArn": expression("$states.input.execution_arn")},
                "Next": "Pause",
            },
            "Pause": pause("List"),
            "List": {
                "Type": "Task",
                "Resource": f"{sdk}:list{noun}s",
                # a filter by name looks at jobs of every status
                "Arguments": {
                    "JobQueue": expression("$queue"),
                    "Filters": [{"Name": "JOB_NAME", "Values": [expression("$jobName")]}],
                },
                "Output": expression('[$states.result.JobSummaryList[$not(Status in ["SUCCEEDED", "FAILED"])].JobId]'),
                "Retry": BRIEF,
                "Next": "EachJob",
            },
            "EachJob": {
                "Type": "Map",
                "Items": expression("$states.input"),
                "MaxConcurrency": 5,
                "ItemProcessor": {
                    "ProcessorConfig": {"Mode": "INLINE"},
                    "StartAt": "Terminate",
                    "States": {
                        "Terminate": {
                            "Type": "Task",
                            "Resource": f"{sdk}:terminate{noun}",
                            "Arguments": {
                                "JobId": expression("$states.input"),
                                "Reason": expression('"The execution has ended: " & $executionArn'),
                            },
                            "Retry": BRIEF,
                            "End": True,
                        }
                    },
                },
                "Next": "More",
            },
            "More": {"Type": "Choice", "Choices": [SEARCH_AGAIN], "Default": "Done"},
            "Done": {"Type": "Succeed"},
        },
    }
