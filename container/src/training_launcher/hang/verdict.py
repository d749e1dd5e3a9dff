"""Who keeps the others waiting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Optional

from training_launcher.failure import Failure
from training_launcher.hang.stack import ENDED, Stack

EXIT_CODE = 124
"""As ``timeout`` of GNU coreutils ends."""


def judge(stacks: Sequence[Stack], *, leader: str, seconds: float) -> Failure:
    """The failure that a hang is.

    Args:
        stacks: Of every rank that has answered.
        leader: Host to name when no rank stands out.
        seconds: How long all have been silent.
    """
    ordered = sorted(stacks, key=lambda stack: stack.rank)
    culprit, why = _culprit(ordered)
    detail = "\n".join(f"rank {stack.rank} ({stack.host}): {stack.doing}" for stack in ordered)
    ended = f"silent for {seconds:.0f} s"
    if culprit is None:
        return Failure("hang", leader, EXIT_CODE, why, ended=ended, detail=detail)
    return Failure(
        "hang",
        culprit.host,
        EXIT_CODE,
        f"{culprit.doing}; {why}",
        rank=culprit.rank,
        local_rank=culprit.local,
        ended=ended,
        detail=detail,
    )


def _culprit(stacks: Sequence[Stack]) -> tuple[Optional[Stack], str]:
    """The first reason that singles out some ranks wins, and of those the first rank."""
    if not stacks:
        return None, "no rank has written anything, and none could be asked where it stands"
    waiting = [stack for stack in stacks if stack.in_collective]
    others = f"{_waiting(waiting)} in a collective"
    for suspects, why in (
        ([stack for stack in stacks if stack.state in ("T", "t")], "the others wait"),
        ([stack for stack in stacks if stack.state == ENDED], others if waiting else "the others wait"),
        ([stack for stack in stacks if stack.state == "D" and not stack.frames], "it waits in the kernel for a device"),
        ([stack for stack in stacks if stack.frames and not stack.in_collective] if waiting else [], others),
        ([stack for stack in stacks if not stack.frames] if waiting else [], others),
        (_minority(stacks), "the others stand elsewhere"),
    ):
        if suspects and len(suspects) < len(stacks):
            return suspects[0], why
    if len(stacks) == 1:
        return stacks[0], "it has written nothing"
    place = stacks[0].where
    return None, f"every rank is silent, {f'all of them at {place}' if place else 'and none shows a Python stack'}"


def _minority(stacks: Sequence[Stack]) -> list[Stack]:
    """Those at the place with the fewest ranks, if most ranks are at another one."""
    places = Counter(stack.where for stack in stacks)
    if len(places) < 2:
        return []
    (_, most), (rare, fewest) = places.most_common()[0], places.most_common()[-1]
    return [stack for stack in stacks if stack.where == rare] if fewest < most else []


def _waiting(stacks: Sequence[Stack]) -> str:
    numbers = [str(stack.rank) for stack in stacks]
    shown = ", ".join(numbers[:8]) + (" …" if len(numbers) > 8 else "")
    return f"rank {shown} waits" if len(numbers) == 1 else f"ranks {shown} wait"
