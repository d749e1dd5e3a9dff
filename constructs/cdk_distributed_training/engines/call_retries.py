"""Which errors pass, and how often a call is made again that costs nothing."""

from __future__ import annotations

from typing import Any

# JSONata's pattern for what a call or a job says that could not start for now. The text is searched, not only the
# error's name: the SDK integration names errors that the API does not model, such as throttling, after the service
# alone.
TRY_AGAIN = "/ResourceLimitExceeded|CapacityError|InsufficientCapacity|Throttl|TooManyRequests|Rate exceeded/"

# about four hours of errors pass: giving up would leave something running that nobody watches
PATIENT: list[dict[str, Any]] = [
    {
        "ErrorEquals": ["States.ALL"],
        "IntervalSeconds": 5,
        "BackoffRate": 2,
        "MaxDelaySeconds": 600,
        "MaxAttempts": 30,
        "JitterStrategy": "FULL",
    }
]
# about three minutes
BRIEF: list[dict[str, Any]] = [
    {
        "ErrorEquals": ["States.ALL"],
        "IntervalSeconds": 2,
        "BackoffRate": 2,
        "MaxDelaySeconds": 60,
        "MaxAttempts": 6,
        "JitterStrategy": "FULL",
    }
]
