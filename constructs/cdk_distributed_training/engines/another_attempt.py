"""What follows a refused call that may be worth another: for want of capacity or quota, or because of throttling."""

from __future__ import annotations

from typing import Any

from cdk_distributed_training.engines.call_retries import TRY_AGAIN
from cdk_distributed_training.engines.job_expressions import expression

# 1, 2, 4, 8 and 15 minutes between six attempts
_ATTEMPTS = 6
_FIRST_BACKOFF_SECONDS = 60
_LONGEST_BACKOFF_SECONDS = 900


def another_attempt(next_state: str) -> dict[str, Any]:
    """The states `MayRetry` and `Backoff`; the variables are `$attempt`, from 1, and `$problem`.

    Args:
        next_state: Where another attempt begins; where there is none, `NotStarted` follows.
    """
    return {
        "MayRetry": {
            "Type": "Choice",
            "Choices": [
                {
                    "Condition": expression(
                        f'$attempt < {_ATTEMPTS} and $contains($problem.error & " " & $problem.cause, {TRY_AGAIN})'
                    ),
                    "Next": "Backoff",
                }
            ],
            "Default": "NotStarted",
        },
        "Backoff": {
            "Type": "Wait",
            "Seconds": expression(
                f"$min([{_FIRST_BACKOFF_SECONDS} * $power(2, $attempt - 1), {_LONGEST_BACKOFF_SECONDS}])"
            ),
            "Next": next_state,
        },
    }


def not_started(error: str, *, name: str) -> dict[str, Any]:
    """The state `NotStarted`, where no other attempt follows.

    Args:
        error: The execution's error.
        name: JSONata for the name of what did not start.
    """
    return {
        "Type": "Fail",
        "Error": error,
        "Cause": expression(f'$problem.error & ": " & $problem.cause & " (attempt " & $attempt & ", " & {name} & ")"'),
    }
