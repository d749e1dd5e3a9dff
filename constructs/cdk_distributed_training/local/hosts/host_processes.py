"""The processes of one host, seen from this machine."""

from __future__ import annotations

from pathlib import Path

_GONE = (FileNotFoundError, ProcessLookupError, PermissionError)


def first_with(init_pid: int, variable: str) -> int | None:
    """The host's process whose environment holds the variable and whose parent's does not; None if there is none.

    The launcher's own process around what the user runs does not count.

    Args:
        init_pid: The host's PID 1, as this machine counts.
        variable: Such as `RANK=3`.
    """
    home = _process_namespace(init_pid)
    entries = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    in_host = [pid for pid in entries if home is not None and _process_namespace(pid) == home]
    having = {pid for pid in in_host if _has(pid, variable.encode()) and not _is_guard(pid)}
    # its own children inherit the variable: the loaders of data, say
    return min((pid for pid in having if _parent(pid) not in having), default=None)


def _process_namespace(pid: int) -> str | None:
    try:
        return str(Path(f"/proc/{pid}/ns/pid").readlink())
    except _GONE:
        return None


def _has(pid: int, variable: bytes) -> bool:
    try:
        return variable in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except _GONE:
        return False


def _is_guard(pid: int) -> bool:
    """Whether it runs the launcher's file that starts the user's command and waits for it."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except _GONE:
        return True
    return any(word.rpartition(b"/")[2] == b"rank.py" for word in words[:4])


def _parent(pid: int) -> int | None:
    try:
        # the name in parentheses may hold anything
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except _GONE:
        return None
