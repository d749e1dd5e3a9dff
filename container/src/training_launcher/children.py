"""Start processes, reap every process, and signal the right ones."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence

TERMINATE, KILL = signal.SIGTERM, signal.SIGKILL
_SHELLS = {"sh", "bash", "dash", "zsh", "ksh", "ash", "busybox"}


class Children:
    """The processes of this host. As the first process of a container it also reaps orphans."""

    def __init__(self) -> None:
        self._ended: dict[int, Callable[[int], None]] = {}
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        self.is_first_process = os.getpid() == 1
        if not self.is_first_process:
            adopt_orphans()

    def start(
        self,
        argv: Sequence[str],
        *,
        environment: Mapping[str, str],
        directory: str,
        ended: Callable[[int], None],
    ) -> tuple[int, int]:
        """Start a process in a session and process group of its own.

        Args:
            argv: Its command, never given to a shell.
            environment: Its whole environment.
            directory: Its working directory.
            ended: Called with its wait status.

        Returns:
            Its process id, and the descriptor from which its output and errors can be read.

        Raises:
            OSError: It cannot be started.
        """
        reader, writer = os.pipe()
        try:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=writer,
                stderr=writer,
                cwd=directory,
                env=environment,
                start_new_session=True,
                # with a container's first process the kernel ends all others anyway; and here is one thread only
                preexec_fn=None if self.is_first_process else _die_with_parent(),  # noqa: PLW1509
            )
        except BaseException:
            os.close(reader)
            raise
        finally:
            os.close(writer)
        self._running[process.pid] = process
        self._ended[process.pid] = ended
        return process.pid, reader

    def reap(self) -> None:
        """Collect every process that has ended, our own and orphans."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            process = self._running.pop(pid, None)
            if process:
                process.returncode = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
                self._ended.pop(pid)(status)

    def signal_all(self, number: int) -> None:
        """Signal every process below this one, in whatever group or session it is."""
        if self.is_first_process:
            with contextlib.suppress(ProcessLookupError):  # there is none
                os.kill(-1, number)
            return
        for pid in descendants(os.getpid(), process_table()):
            send(pid, number)

    @property
    def any_left(self) -> bool:
        """Whether any process below this one still runs."""
        self.reap()
        if self.is_first_process:
            return any(pid != 1 for pid in process_table())
        return bool(descendants(os.getpid(), process_table()))


def send(pid: int, number: int) -> None:
    """Signal one process, if it is still there."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def signal_group(leader: int, number: int) -> None:
    """Signal a process group, if it is still there."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, number)


def signal_deepest(pid: int, number: int) -> None:
    """Signal the process that does the work.

    A shell that waits for a program would die of the signal without passing it on, so its children get it instead;
    the shell too if it handles the signal itself. Other processes of the group, such as a data loader's workers, must
    live on for as long as the rank needs them to save.
    """
    table = process_table()
    for target in _targets(pid, table, number):
        send(target, number)


def process_table() -> dict[int, int]:
    """Process id to parent's id of every process that lives (zombies do not)."""
    table = {}
    for name in os.listdir("/proc"):
        if not name.isdecimal():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                state, parent = file.read().rpartition(b")")[2].split()[:2]
        except (OSError, ValueError):  # it has just ended
            continue
        if state not in (b"Z", b"X"):
            table[int(name)] = int(parent)
    return table


def process_state(pid: int) -> str:
    """One letter for what it does, see proc(5): R, S, D, T and so on; empty if it has ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            state = file.read().rpartition(b")")[2].split()[0].decode()
    except (OSError, IndexError):
        return ""
    return "" if state in ("Z", "X") else state


def innermost(pid: int) -> int:
    """The process that does the work: the one under the shells, if there are any."""
    return _targets(pid, process_table(), KILL)[-1]


def descendants(pid: int, table: Mapping[int, int]) -> list[int]:
    """Children, their children and so on."""
    children = [child for child, parent in table.items() if parent == pid]
    return children + [deeper for child in children for deeper in descendants(child, table)]


def _targets(pid: int, table: Mapping[int, int], number: int) -> list[int]:
    children = [child for child, parent in table.items() if parent == pid]
    if not children or _program(pid) not in _SHELLS:
        return [pid]
    below = [target for child in children for target in _targets(child, table, number)]
    return ([pid] if _handles(pid, number) else []) + below


def _program(pid: int) -> str:
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return ""


def _handles(pid: int, number: int) -> bool:
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            caught = next((line.split()[1] for line in file if line.startswith("SigCgt:")), "0")
    except OSError:
        return False
    return bool(int(caught, 16) >> (number - 1) & 1)


def _die_with_parent() -> Callable[[], None] | None:
    """What a child does before its program begins, so that the kernel ends it if the launcher is killed (Linux)."""
    try:
        import ctypes  # noqa: PLC0415  not needed in a container

        control = ctypes.CDLL(None).prctl
    except (ImportError, OSError, AttributeError):  # not Linux
        return None
    parent = os.getpid()

    def arrange() -> None:
        control(1, int(KILL), 0, 0, 0)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:
            os._exit(137)  # it was killed before the line above

    return arrange


def adopt_orphans() -> None:
    """Become the parent of orphans below this process, as the first process of a container is by nature (Linux)."""
    try:
        import ctypes  # noqa: PLC0415  not needed in a container

        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    except (ImportError, OSError, AttributeError):  # not Linux: orphans go to the machine's first process
        pass
