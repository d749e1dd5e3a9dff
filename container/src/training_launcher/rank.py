"""The rank guard: a small parent between torchrun or mpirun and one rank.

Written into the run directory and started as ``python3 -S -E rank.py COMMAND…`` by whatever starts ranks. It runs the
user's command unchanged in a process group of its own, sends its output to the launcher, tells the launcher when it
starts and how it ends, and then ends the same way. It imports nothing of the launcher, and of the standard library only
what is written in C: there is one guard for each rank, and with `json`, `signal` and `socket` it would take three times
as much processor time to start.
"""

from __future__ import annotations

import os
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    import socket
    from typing import NoReturn
else:
    import _signal as signal
    import _socket as socket

RUN = os.path.dirname(os.path.abspath(__file__))
STOPPING = os.path.join(RUN, "stopping")
"""While it exists, the launcher has signalled the ranks itself and every rank may take its time to save."""
RELEASE = os.path.join(RUN, "release")
CARRIED = "TRAINING_LAUNCHER_NAME_"
FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
_OPEN_MPI = {
    "RANK": "OMPI_COMM_WORLD_RANK",
    "WORLD_SIZE": "OMPI_COMM_WORLD_SIZE",
    "LOCAL_RANK": "OMPI_COMM_WORLD_LOCAL_RANK",
    "LOCAL_WORLD_SIZE": "OMPI_COMM_WORLD_LOCAL_SIZE",
}


def main(command: list[str]) -> NoReturn:
    take_carried_names()
    for name, source in _OPEN_MPI.items():
        if source in os.environ:
            os.environ[name] = os.environ[source]
    rank, local = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
    identity = {"rank": rank, "local": local, "restart": int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))}
    planned, world = os.environ.get("TRAINING_WORLD_SIZE"), os.environ["WORLD_SIZE"]
    if planned is not None and planned != world:
        tell("refused", {**identity, "world": int(world), "planned": int(planned)})
        os._exit(3)
    output = os.open(os.path.join(RUN, f"rank-{local}.out"), os.O_WRONLY)
    child = start(command, output)
    for number in FORWARDED:
        signal.signal(number, lambda received, _frame: forward(child, received))
    tell("started", {**identity, "pid": child})
    status = wait(child)
    tell("ended", {**identity, "pid": child, "status": status})
    hold(status)
    end_like(status)


def take_carried_names() -> None:
    """Variables whose names a shell has dropped on the way; see ``shell_names.py``."""
    for name in [name for name in os.environ if name.startswith(CARRIED)]:
        known, _, value = os.environ.pop(name).partition("=")
        os.environ.setdefault(known, value)


def wait(child: int) -> int:
    """Wait for the rank's end. A launcher that is killed outright takes its ranks along, also where it is not the
    first process of a container, whose end would end them all."""
    try:
        # the launcher alone holds the other end, so it hangs up with the launcher
        alive = os.open(os.path.join(RUN, "alive"), os.O_RDONLY | os.O_NONBLOCK)
        ended = os.pidfd_open(child)
    except (OSError, AttributeError):  # Linux before 5.3, or another system
        return os.waitpid(child, 0)[1]
    poll = select.poll()
    poll.register(alive, 0)  # a hang-up needs no asking
    poll.register(ended, select.POLLIN)
    if alive in dict(poll.poll()):
        signal_group(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def start(command: list[str], output: int) -> int:
    """Fork the user's command."""
    guard = os.getpid()
    child = os.fork()
    if child:
        return child
    try:
        os.setpgid(0, 0)
        die_with_parent(guard)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.execvp(command[0], command)  # noqa: S606
    except OSError as error:
        os.write(2, f"{command[0]} cannot be started: {error.strerror}\n".encode(errors="surrogateescape"))
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def die_with_parent(parent: int) -> None:
    """A guard that is killed outright takes its rank along (Linux)."""
    try:
        import ctypes  # noqa: PLC0415

        ctypes.CDLL(None).prctl(1, int(signal.SIGKILL))  # PR_SET_PDEATHSIG
    except (ImportError, OSError, AttributeError):
        return  # then the launcher ends the group
    if os.getppid() != parent:
        os._exit(137)


def forward(child: int, number: int) -> None:
    if os.path.exists(STOPPING):
        return  # the launcher has told the rank already, and torchrun's haste must not cut off its saving
    signal_group(child, number)


def signal_group(leader: int, number: int) -> None:
    try:
        os.killpg(leader, number)
    except ProcessLookupError:
        return  # it has ended


def tell(event: str, content: dict[str, int]) -> None:
    numbers = "".join(f', "{name}": {number}' for name, number in content.items())
    events = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    events.settimeout(10)
    try:
        events.sendto(f'{{"event": "{event}"{numbers}}}'.encode(), os.path.join(RUN, "events"))
    except OSError:
        return  # the launcher is ending and listens no more
    finally:
        events.close()


def hold(status: int) -> None:
    """Do not let torchrun or mpirun see this end, and end the others, while ranks are still saving.

    Nor, where the launcher asks for it, see a failure before the launchers of all hosts have found its cause.
    """
    until = time.monotonic() + (float(os.environ.get("TRAINING_FAILURE_HOLD", "0")) if status else 0)
    while (os.path.exists(STOPPING) or time.monotonic() < until) and not os.path.exists(RELEASE):
        time.sleep(0.02)


def end_like(status: int) -> NoReturn:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        import resource  # noqa: PLC0415

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # one core file is enough
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        time.sleep(1)
        os._exit(128 + number)
    os._exit(os.WEXITSTATUS(status))


if __name__ == "__main__":
    main(sys.argv[1:])
