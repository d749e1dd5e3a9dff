"""What is the same for every job of AWS Batch that an execution submits, be it a service job or one on EC2 machines."""

from __future__ import annotations

from typing import Any

from cdk_distributed_training.engines.job_expressions import expression, run_name

# what a refused submission leads on to
SUBMISSION_PROBLEM = expression(
    """{
        "Error": $states.errorOutput.Error,
        "Cause": $exists($states.errorOutput.Cause) ? $states.errorOutput.Cause : ""
    }"""
)
# the end of an execution whose submission was refused; its input is SUBMISSION_PROBLEM
NOT_STARTED: dict[str, Any] = {
    "Type": "Fail",
    "Error": "TrainingJobNotStarted",
    "Cause": expression('$states.input.Error & ": " & $states.input.Cause & " (" & $jobName & ")"'),
}


def batch_job_name(prefix: str, execution_arn: str, execution_name: str) -> str:
    """JSONata for the name of an execution's job, by which it is found again without a record of it.

    Args:
        prefix: JSONata for the job's own name.
        execution_arn: JSONata for the execution's ARN.
        execution_name: JSONata for the execution's name.
    """
    return f'{run_name(prefix, execution_name)} & "-" & $substring($hash({execution_arn}, "SHA-256"), 0, 8)'
