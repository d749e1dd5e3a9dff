"""The processes of this host: starts the plan's commands, knows its ranks, signals them, sees how they end."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Protocol

from training_launcher.children import KILL, TERMINATE, Children, send, signal_deepest, signal_group
from training_launcher.failure import Failure
from training_launcher.output import Merger, Stream
from training_launcher.pipes import enlarge
from training_launcher.plan import Command, LaunchPlan
from training_launcher.problems import NOT_STARTED, Problem
from training_launcher.process_end import OutOfMemoryCounter, failure_of
from training_launcher.rank_events import Event, RankEvents
from training_launcher.reactor import Reactor
from training_launcher.shell_names import carried_names

if TYPE_CHECKING:
    from training_launcher.hang.examination import RankExamination

_CLOSING = 5.0
"""mpirun waits a second before it kills ranks, and then for its daemons."""


class Rank(NamedTuple):
    """A rank that has started here."""

    number: int
    local: int
    pid: int
    """The user's own process, which leads a process group."""
    status: Optional[int] = None
    """How it ended, as `os.waitpid` gives it."""


class Listener(Protocol):
    """Who wants to know."""

    def rank_failed(self, failure: Failure) -> None:
        """A rank has ended badly, and there will be no restart."""

    def ranks_ended(self, *, clean: bool) -> None:
        """After `Supervisor.stop_ranks`: none runs any more; `clean` if each ended with 0."""

    def commands_ended(self, failure: Failure | None) -> None:
        """Every command has ended, with 0, or one has not."""

    def launch_asked(self, host: str, name: str, argv: list[str]) -> None:
        """A program here wants a command started on a host."""


class Supervisor:
    """Runs a `LaunchPlan` on this host."""

    def __init__(
        self,
        reactor: Reactor,
        merger: Merger,
        children: Children,
        *,
        plan: LaunchPlan,
        environment: Mapping[str, str],
        run_directory: str,
        listener: Listener,
    ) -> None:
        self._reactor, self._merger, self._children = reactor, merger, children
        self._plan, self._environment, self._listener = plan, environment, listener
        self._run_directory = run_directory
        self._ranks: dict[int, Rank] = {}
        self._streams: dict[int, Stream] = {}
        self._command_streams: dict[int, tuple[Command, Stream]] = {}
        self._command_failure: Failure | None = None
        self._rank_failures: list[tuple[float, Failure]] = []
        self._memory = OutOfMemoryCounter()
        self._stopping = self._ending = self._examined = False
        self._rehearsing = any(command.rehearses for command in plan.commands)
        self._alive = -1
        self._events = RankEvents(reactor, run_directory, self._event)

    @property
    def running_ranks(self) -> list[Rank]:
        """Ranks that have started and not ended."""
        return [rank for rank in self._ranks.values() if rank.status is None]

    @property
    def running_commands(self) -> bool:
        """Whether any command of the plan runs."""
        return bool(self._command_streams)

    def start(self) -> None:
        """Start the plan's commands.

        Raises:
            Problem: One cannot be started.
        """
        if self._plan.awaits is not None or any(map(_starts_ranks, self._plan.commands)):
            self._alive = _hold_alive(self._run_directory)
            for local in range(self._plan.processes):
                self._open_output(local)
        for command in self._plan.commands:
            self._start(command)

    def start_awaited(self, name: str, argv: tuple[str, ...]) -> None:
        """Start a command that another host has sent, if the plan awaits one.

        Raises:
            Problem: It cannot be started.
        """
        if self._plan.awaits is not None and not self._ending:
            self._start(Command(name, argv))

    @property
    def quiet(self) -> float | None:
        """Seconds since any rank here has written something, or has started; None without ranks."""
        if self._rehearsing:
            return 0.0  # graphs are compiled for as long as that takes
        restarting = self._plan.restarts and any(rank.status for rank in self._ranks.values())
        if restarting or len(self._ranks) < self._plan.processes:
            return 0.0  # torchrun and mpirun have bounds of their own for starting the ranks
        if self._merger.console.full:
            return 0.0  # the reader of our output holds the ranks back
        now = time.monotonic()
        return min((now - stream.last_read for stream in self._streams.values()), default=None)

    def examine(self, finished: Callable[[list[dict[str, Any]]], None]) -> RankExamination:
        """Make every rank write where it stands. They end by it, which is no news any more.

        Args:
            finished: Called with what to tell the leader of each rank.
        """
        from training_launcher.hang.examination import RankExamination, Silent  # noqa: PLC0415  seldom needed

        self._examined = True
        silent = [
            Silent(rank.number, rank.local, rank.pid, self._streams[rank.local], rank.status)
            for rank in self._ranks.values()
        ]
        return RankExamination(self._reactor, silent, finished)

    def stop_ranks(self) -> None:
        """Tell every rank to save and end, and hold back whoever would end the others with the first."""
        self._stopping = True
        self._flag("stopping")
        for rank in self.running_ranks:
            signal_deepest(rank.pid, TERMINATE)
        self._check_ranks_ended()

    def kill_ranks(self) -> None:
        """End the ranks that are still there after a stop, with all that they have started."""
        for rank in self.running_ranks:
            signal_group(rank.pid, KILL)

    def end_all(self, number: int) -> None:
        """Signal all processes of this host; what they do from now on is no news any more."""
        self._ending = True
        self.release()
        for command, stream in self._command_streams.values():
            if _starts_ranks(command):
                stream.mute()  # an agent that is told to end has nothing to say that matters
        if number == TERMINATE and self._plan.awaits is not None and self._ranks:
            # mpirun and its daemons end in good order, and leave nothing behind, if their ranks end before them
            for rank in self.running_ranks:
                signal_group(rank.pid, TERMINATE)
            self._close_awaited()
            return
        self._children.signal_all(number)

    def end_services(self) -> None:
        """Tell the programs beside the ranks to end: the job is over."""
        for pid, (command, _) in self._command_streams.items():
            if command.service:
                self._ending = True
                signal_deepest(pid, TERMINATE)

    @property
    def closing_time(self) -> float:
        """Seconds that the commands need to end after a failure, however short the ranks' own time is."""
        return _CLOSING if self._plan.awaits is not None else 0.0

    def release(self) -> None:
        """Let torchrun see that its ranks have ended."""
        self._flag("release")

    def close(self) -> None:
        """Pass on the last output and let go of every pipe."""
        self._events.close()
        if self._alive >= 0:
            os.close(self._alive)
            self._alive = -1
        for stream in [*self._streams.values(), *(stream for _, stream in self._command_streams.values())]:
            stream.close()

    def _flag(self, name: str) -> None:
        """A word to the guards. A full disk must not keep the job from ending: then torchrun ends its ranks itself."""
        with contextlib.suppress(OSError), open(os.path.join(self._run_directory, name), "wb"):
            pass

    def _start(self, command: Command) -> None:
        environment = {**self._environment, **self._plan.environment, **command.environment}
        if _starts_ranks(command):
            environment.update(carried_names(environment))
        try:
            pid, output = self._children.start(
                command.argv,
                environment=environment,
                directory=self._plan.working_directory,
                ended=lambda status: self._command_ended(pid, status),
            )
        except OSError as error:
            raise Problem(
                f"{command.argv[0]} cannot be started: {error.strerror or error}",
                kind="not started",
                exit_code=127 if isinstance(error, FileNotFoundError) else 126,
            ) from error
        enlarge(output)
        name = command.name if command.rank is None else f"rank {command.rank}"
        stream = Stream(self._reactor, self._merger, output, self._label(name))
        self._command_streams[pid] = (command, stream)
        if command.rank is not None:
            self._streams[command.local_rank] = stream
            self._ranks[command.local_rank] = Rank(command.rank, command.local_rank, pid)

    def _open_output(self, local: int) -> None:
        path = os.path.join(self._run_directory, f"rank-{local}.out")
        os.mkfifo(path, 0o600)
        output = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)  # a writer of our own: never an end of file
        enlarge(output)
        planned = self._plan.first_rank + local
        self._streams[local] = _GuardedStream(
            self._reactor, self._merger, output, self._label(f"rank {planned}"), self._events
        )

    def _label(self, name: str) -> bytes:
        return f"[{self._plan.host} {name}] ".encode()

    def _event(self, event: Event) -> None:
        """A guard's word, see ``rank.py``, or that of mpirun's agent, see ``launch_agent.py``."""
        if event["event"] == "launch":
            self._listener.launch_asked(event["host"], event["name"], event["argv"])
            return
        if event["event"] == "rehearsed":
            self._rehearsing = False
            self._ranks.clear()  # those that train are yet to come
            return
        local, number = int(event["local"]), int(event["rank"])
        if event["event"] == "started":
            stream = self._streams[local]
            stream.label = self._label(f"rank {number}")
            stream.forget()
            self._ranks[local] = Rank(number, local, int(event["pid"]))
            if self._stopping:
                send(int(event["pid"]), TERMINATE)
        elif event["event"] == "ended":
            rank = self._ranks.get(local) or Rank(number, local, int(event["pid"]))
            self._rank_ended(rank, int(event["status"]))
        elif event["event"] == "refused":
            self._listener.rank_failed(
                Failure(
                    "wrong world",
                    self._plan.host,
                    NOT_STARTED,
                    f"the world has {event['world']} ranks instead of the planned {event['planned']}: "
                    "some hosts have not found each other",
                    rank=number,
                    local_rank=local,
                )
            )

    def _rank_ended(self, rank: Rank, status: int) -> None:
        stream = self._streams[rank.local]
        stream.drain()
        self._ranks[rank.local] = rank._replace(status=status)
        if status and not self._stopping and not self._ending and not self._examined:
            failure = failure_of(
                status,
                host=self._plan.host,
                output=stream.tail,
                rank=rank.number,
                local_rank=rank.local,
                out_of_memory=self._memory.happened,
            )
            if self._plan.restarts:
                self._rank_failures.append((time.monotonic(), failure))
            else:
                self._listener.rank_failed(failure)
        self._check_ranks_ended()
        self._close_awaited()
        if len(self._ranks) == self._plan.processes and all(one.status == 0 for one in self._ranks.values()):
            for command, stream in self._command_streams.values():
                if _starts_ranks(command) and not command.closing_words:
                    stream.mute()  # torchrun often ends a success with a traceback about its own store

    def _command_ended(self, pid: int, status: int) -> None:
        self._events.receive()  # what the guards said before the program above them ended
        command, stream = self._command_streams.pop(pid)
        if command.service:
            self._service_ended(command, stream, status)
            return
        if command.rank is not None:
            self._rank_ended(self._ranks[command.local_rank], status)
        if self._examined:
            stream.close()
            return
        if command.rank is None:
            stream.close()
            if status and not self._ending:
                stream.unmute()
        if status and command.rank is None and self._command_failure is None and not self._ending:
            self._command_failure = self._after_restarts() or failure_of(
                status,
                host=self._plan.host,
                output=stream.tail,
                program=command.name,
                out_of_memory=self._memory.happened,
            )
        if status and command.rank is not None:
            self._command_failure = self._command_failure or failure_of(
                status, host=self._plan.host, output=stream.tail, rank=command.rank, local_rank=command.local_rank
            )
        if self._command_failure or all(running.service for running, _ in self._command_streams.values()):
            self._listener.commands_ended(self._command_failure)

    def _service_ended(self, command: Command, stream: Stream, status: int) -> None:
        """It may end early, but not badly: the ranks count on it."""
        stream.close()
        if status and not self._ending:
            self._listener.commands_ended(
                failure_of(
                    status,
                    host=self._plan.host,
                    output=stream.tail,
                    program=command.name,
                    out_of_memory=self._memory.happened,
                )
            )

    def _after_restarts(self) -> Failure | None:
        """The cause among the ranks' failures since the last restart."""
        if not self._rank_failures:
            return None
        latest = max(when for when, _ in self._rank_failures)
        recent = [(failure.weight, when, failure) for when, failure in self._rank_failures if latest - when < 60]
        last_of_rank = {failure.rank: (weight, when, failure) for weight, when, failure in recent}
        _, when, failure = min(last_of_rank.values(), key=lambda one: one[:2])
        return failure._replace(age=time.monotonic() - when)

    def _close_awaited(self) -> None:
        """Tell mpirun or its daemon to end as soon as no rank is left here: by themselves they would take seconds."""
        if self._ending and self._plan.awaits is not None and not self.running_ranks:
            for pid, (command, _) in self._command_streams.items():
                if _starts_ranks(command):
                    send(pid, TERMINATE)

    def _check_ranks_ended(self) -> None:
        if self._stopping and not self._ending and not self.running_ranks:
            complete = len(self._ranks) == self._plan.processes and not self._rehearsing
            self._listener.ranks_ended(clean=complete and all(rank.status == 0 for rank in self._ranks.values()))


def _starts_ranks(command: Command) -> bool:
    """Whether it is an agent such as torchrun, whose ranks speak and end through the guard."""
    return command.rank is None and not command.service


class _GuardedStream(Stream):
    """Takes the guards' events before output, so that the first line has its label already."""

    def __init__(self, reactor: Reactor, merger: Merger, fd: int, label: bytes, events: RankEvents) -> None:
        self._events = events
        super().__init__(reactor, merger, fd, label)

    def _readable(self) -> None:
        self._events.receive()
        super()._readable()


def _hold_alive(run_directory: str) -> int:
    """A pipe whose end the launcher alone holds: the guards see by it when the launcher is no more."""
    path = os.path.join(run_directory, "alive")
    os.mkfifo(path, 0o600)
    return os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
