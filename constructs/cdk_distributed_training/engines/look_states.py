"""The states that look at something again and again until it has ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cdk_distributed_training.engines.call_retries import PATIENT
from cdk_distributed_training.engines.job_expressions import expression
from cdk_distributed_training.engines.pauses import next_pause


def look_states(resource: str, arguments: Mapping[str, Any], *, output: str, poll_interval: int) -> dict[str, Any]:
    """The states `Wait` and `Look`; `Ended` follows, which leads to `Wait` again.

    Args:
        resource: ARN of the call.
        arguments: What it looks at.
        output: What is seen.
        poll_interval: Shortest time between two looks, in seconds.
    """
    return {
        "Wait": {"Type": "Wait", "Seconds": expression("$pause"), "Next": "Look"},
        "Look": {
            "Type": "Task",
            "Resource": resource,
            "Arguments": dict(arguments),
            "Assign": next_pause(poll_interval),
            "Output": output,
            # looking is free, and giving up would leave something running that nobody watches
            "Retry": PATIENT,
            "Next": "Ended",
        },
    }
