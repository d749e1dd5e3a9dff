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


def fits(next_state: str) -> dict[str, Any]:
    """The state `Fits`, which no execution passes that asks for more machines than `$defaults.max_instances`.

    Args:
        next_state: What follows for others.
    """
    return {
        "Type": "Choice",
        "Choices": [
            {"Condition": expression("$overrides.instance_count > $defaults.max_instances"), "Next": "TooMany"}
        ],
        "Default": next_state,
    }


def too_many(machines: str) -> dict[str, Any]:
    """The state `TooMany`, the end of an execution that does not fit.

    Args:
        machines: Which machines these are, and a preposition.
    """
    return {
        "Type": "Fail",
        "Error": "TrainingJobNotStarted",
        "Cause": expression(
            '"instance_count " & $overrides.instance_count & " is more than the " & $defaults.max_instances'
            f' & " {machines} the job would wait for ever"'
        ),
    }


def batch_job_name(prefix: str, execution_arn: str, execution_name: str) -> str:
    """JSONata for the name of an execution's job, by which it is found again without a record of it.

    Args:
        prefix: JSONata for the job's own name.
        execution_arn: JSONata for the execution's ARN.
        execution_name: JSONata for the execution's name.
    """
    return f'{run_name(prefix, execution_name)} & "-" & $substring($hash({execution_arn}, "SHA-256"), 0, 8)'
