"""Runs one container entrypoint without a namespace and makes sure that nothing of it outlives the driver.

`python guard.py FD SCRATCH ENTRYPOINT [ARGUMENT...]`: forwards signals, ends every descendant when the entrypoint ends
or when the pipe FD is closed at its other end (which the kernel does when the driver dies), removes the folder SCRATCH,
exits with the entrypoint's code or 128 + N. Standard library only, since it runs with the interpreter's bare path.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36  # linux/prctl.h
FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGQUIT)


def main(lifeline: int, argv: list[str]) -> int:
    """Run the entrypoint to its end and return the exit code to use."""
    if sys.platform == "linux":
        # orphans of the entrypoint become children of this process, where `descendants` finds them
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    received: list[int] = []

    def note(signum: int, frame: FrameType | None) -> None:
        received.append(signum)

    for expected in (*FORWARDED, signal.SIGCHLD):
        signal.signal(expected, note)
    try:
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=_die_with_parent)  # noqa: PLW1509
    except OSError as error:
        print(f"{argv[0]}: {error.strerror}", file=sys.stderr)
        return 127
    while child.poll() is None:
        ready, _, _ = select.select([reader, lifeline], [], [], 1.0)
        if reader in ready:
            os.read(reader, 4096)
        while received:
            signum = received.pop(0)
            if signum != signal.SIGCHLD:
                child.send_signal(signum)
        if lifeline in ready:
            break
    end_descendants()
    code = child.wait()
    return 128 - code if code < 0 else code


def end_descendants() -> None:
    """Kill every process below this one, and those that appear meanwhile."""
    for _ in range(50):
        pids = descendants(os.getpid())
        if not pids:
            return
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        time.sleep(0.02)


def descendants(root: int) -> list[int]:
    """Living processes below a process, zombies not counted."""
    found: list[int] = []
    parents = {root}
    table = _processes()
    while parents:
        layer = [pid for pid, parent in table if parent in parents and pid not in found]
        found += layer
        parents = set(layer)
    return found


def remove_scratch(folder: Path) -> None:
    """Remove the host's scratch folder, and the folder of all hosts once it is empty."""
    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):  # another host still has its folder there
        folder.parent.rmdir()


def _processes() -> list[tuple[int, int]]:
    """(process, parent) of every living process."""
    if sys.platform != "linux":
        rows = subprocess.run(["ps", "-axo", "pid=,ppid=,stat="], check=True, capture_output=True, text=True).stdout
        columns = [row.split() for row in rows.splitlines()]
        return [(int(row[0]), int(row[1])) for row in columns if not row[2].startswith("Z")]
    table = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            except (FileNotFoundError, ProcessLookupError):
                continue
            if state != "Z":
                table.append((int(folder.name), int(parent)))
    return table


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    exit_code = main(int(sys.argv[1]), sys.argv[3:])
    remove_scratch(Path(sys.argv[2]))
    sys.exit(exit_code)
