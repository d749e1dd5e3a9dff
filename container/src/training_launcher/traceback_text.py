"""Find out from a process's last output why it ended."""

from __future__ import annotations

import re
from typing import NamedTuple

_RANK_PREFIX = re.compile(r"^\[rank\d+\]:\s?")
_BLOCK = re.compile(r"^(?:\s*\+ Exception Group )?Traceback \(most recent call last\):$")
_CHAIN = (
    "The above exception was the direct cause of the following exception:",
    "During handling of the above exception, another exception occurred:",
)
_RULER = re.compile(r"-{40,}")
_VICTIM = re.compile(
    r"Connection (?:closed|reset) by peer|Broken pipe|ECONNRESET|remote (?:process|host) (?:exited|has)"
    r"|ncclRemoteError|NCCL communicator was aborted|ncclSystemError|DistBackendError|DistNetworkError|DistStoreError"
    r"|RendezvousConnectionError|RendezvousClosedError|RendezvousTimeoutError"
    r"|connectFullMesh failed|[Ww]atchdog|recvBytes|Failed to recv|sendBytes|[Ss]ocket [Tt]imeout"
    r"|wait timeout after|Timed out waiting \d+ms|Application timeout caused pair closure"
    r"|MPI_ERR_PROC_FAILED|DataLoader worker .* is killed by signal: Terminated"
)


class Explanation(NamedTuple):
    """What the output says about the end."""

    summary: str
    detail: str
    is_exception: bool
    is_victim: bool
    """Whether it says that another process went away: a consequence, not a cause."""


def explain(output: bytes, *, exit_code: int, most_lines: int = 25) -> Explanation:
    """Read the end of a process's output.

    Args:
        output: Its last bytes, in any encoding, cut anywhere.
        exit_code: How it ended; an uncaught Python exception ends with 1, and after another code a traceback in the
            output is an older one that was handled.
        most_lines: Lines of detail.
    """
    lines = [_visible(line) for line in output.decode(errors="replace").split("\n")]
    blocks = _blocks(lines)
    if blocks and exit_code == 1:
        start, end = blocks[-1]
        summary = lines[end]
        cause = _cause(lines, blocks)
        if cause:
            summary += f" (caused by {cause})"
        detail = "\n".join(line for line in lines[start : end + 1 + _message_length(lines, end)] if line)
        return Explanation(summary, detail, True, bool(_VICTIM.search(lines[end] + "\n" + detail[-2000:])))
    fatal = _fatal_error(lines) or _boxed(lines)
    said = [line for line in lines if line.strip(" -=*#")]
    summary = fatal or (said[-1].strip() if said else "")
    detail = "\n".join(said[-most_lines:])
    return Explanation(summary, detail, False, bool(_VICTIM.search(detail)))


def _boxed(lines: list[str]) -> str:
    """The first paragraph between the last two rulers, as Open MPI sets its messages, if nothing comes after them."""
    said = [number for number, line in enumerate(lines) if line.strip()]
    rulers = [number for number in said if _RULER.fullmatch(lines[number])]
    if len(rulers) < 2 or rulers[-1] != said[-1]:
        return ""
    text = "\n".join(lines[rulers[-2] + 1 : rulers[-1]]).strip()
    return " ".join(text.split("\n\n", 1)[0].split())


def _visible(line: str) -> str:
    """What a terminal would show of a line: without torch's rank prefix, and after the last carriage return."""
    return _RANK_PREFIX.sub("", line.rstrip("\r").rsplit("\r", 1)[-1].rstrip())


def _blocks(lines: list[str]) -> list[tuple[int, int]]:
    """Start and exception line of each traceback that tells of this process's end."""
    blocks = []
    for start, line in enumerate(lines):
        if not _BLOCK.match(line) or (start and lines[start - 1].startswith("Exception ignored")):
            continue
        for position in range(start + 1, len(lines)):
            text = lines[position]
            if text and not text[0].isspace() and not text.startswith("|"):
                if not _BLOCK.match(text):
                    blocks.append((start, position))
                break
    return blocks


def _cause(lines: list[str], blocks: list[tuple[int, int]]) -> str:
    """The exception at the beginning of the last traceback's chain."""
    first = len(blocks) - 1
    while first > 0 and any(line in _CHAIN for line in lines[blocks[first - 1][1] : blocks[first][0]]):
        first -= 1
    return lines[blocks[first][1]] if first < len(blocks) - 1 else ""


def _message_length(lines: list[str], end: int) -> int:
    """Further lines of an exception's message, up to a few."""
    length = 0
    while length < 5 and end + 1 + length < len(lines) and lines[end + 1 + length].strip():
        length += 1
    return length


def _fatal_error(lines: list[str]) -> str:
    """What faulthandler says at a crash, with the innermost Python line."""
    for position in range(len(lines) - 1, -1, -1):
        if lines[position].startswith("Fatal Python error: "):
            place = next((line.strip() for line in lines[position:] if line.startswith("  File ")), "")
            return lines[position] + (f" ({place})" if place else "")
    return ""
