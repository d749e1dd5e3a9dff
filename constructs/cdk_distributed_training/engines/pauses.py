"""How long a state machine waits between two looks at something of which nobody knows how long it takes.

An execution may have 25,000 history events and last for a year:
https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html
A look takes 9 events. What is young is looked at every fiftieth of its age, what is older than half a day every quarter
of an hour, and what waits for weeks, as jobs in a queue may, every four-hundredth of its age: about 2,400 looks a year.
"""

from __future__ import annotations

from typing import Any

from cdk_distributed_training.engines.job_expressions import expression

_YOUNG_SHARE = 0.02
_USUAL_PAUSE_SECONDS = 900
_OLD_SHARE = 0.0025


def first_pause(poll_interval: int) -> dict[str, Any]:
    """Variables before the first look.

    Args:
        poll_interval: Shortest time between two looks, in seconds.
    """
    return {"age": 0, "pause": poll_interval}


def next_pause(poll_interval: int) -> dict[str, Any]:
    """Variables after a look."""
    age = "($age + $pause)"
    young = f"$min([$floor({age} * {_YOUNG_SHARE}), {_USUAL_PAUSE_SECONDS}])"
    return {
        "age": expression("$age + $pause"),
        "pause": expression(f"$max([{poll_interval}, {young}, $floor({age} * {_OLD_SHARE})])"),
    }
