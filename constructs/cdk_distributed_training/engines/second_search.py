"""Two searches for what an ended execution has left: what was made in the very moment of the end may not be listed yet.

The variable `$search` counts them.
"""

from __future__ import annotations

from typing import Any

from cdk_distributed_training.engines.job_expressions import expression

_PAUSES_SECONDS = (15, 60)

FIRST_SEARCH: dict[str, Any] = {"search": 1}
# the choice to search again, where that was not the last search; it leads to the state `Pause`
SEARCH_AGAIN: dict[str, Any] = {
    "Condition": expression(f"$search < {len(_PAUSES_SECONDS)}"),
    "Assign": {"search": expression("$search + 1")},
    "Next": "Pause",
}


def pause(next_state: str) -> dict[str, Any]:
    """The state `Pause`, before a search.

    Args:
        next_state: Where the search begins.
    """
    first, second = _PAUSES_SECONDS
    return {"Type": "Wait", "Seconds": expression(f"$search = 1 ? {first} : {second}"), "Next": next_state}
