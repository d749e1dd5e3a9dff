"""One host's run: prepare, meet the others, start, watch, end."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from training_launcher import early_signals, run_directory
from training_launcher.children import Children
from training_launcher.console import Console
from training_launcher.control.coordinator import STOPPED
from training_launcher.control.join import join
from training_launcher.ending import Ending
from training_launcher.entry import require_entry
from training_launcher.failure import FULL, Failure, discard_room, reserve_room, write_failure
from training_launcher.framing import Message
from training_launcher.names import NameWait
from training_launcher.output import Merger, Stream, Voice
from training_launcher.place import Place
from training_launcher.places.interfaces import interface_towards
from training_launcher.plan import LaunchPlan, shown
from training_launcher.ports import require_free_port
from training_launcher.preflight.levels import OFF
from training_launcher.prepare import Preparation
from training_launcher.problems import INTERNAL, NOT_STARTED, Problem
from training_launcher.reactor import Reactor, Timer
from training_launcher.requirements import pip_command, pip_environment, pip_error
from training_launcher.source import CHANNEL, unpack_source
from training_launcher.supervisor import Supervisor

if TYPE_CHECKING:
    from training_launcher.preflight.examination import Examination

_ANSWER = 15.0
"""Seconds in which the leader must decide about a failure; then this host decides for itself."""
_AGENT_END = 1.0
"""Seconds that torchrun has to end by itself after all ranks have ended in a stop."""


class Run:
    """The life of the launcher on one host.

    Args:
        place: Where this host stands.
        preparation: What it is to do, or the problem that keeps it from doing it; the other hosts hear of that too.
        options: The parsed command line.
        environment: As the container was started.
    """

    def __init__(
        self, place: Place, preparation: Preparation | Problem, options: Any, environment: Mapping[str, str]
    ) -> None:
        self._place, self._options, self._environment = place, options, environment
        self._preparation = preparation
        self._reactor = Reactor()
        self._console = Console(self._reactor)
        self._merger = Merger(self._console)
        self._say = Voice(self._merger, place.host)
        self._children = Children()
        self._channel = join(self._reactor, place, options, environment, on_order=self._order, say=self._say)
        self._supervisor: Supervisor | None = None
        self._examination: Examination | None = None
        self._addresses = dict(place.addresses)
        self._began = time.monotonic()
        self._steps = {"source code", "names"}
        self._stopping = self._over = self._rank_has_failed = False
        self._exit_code = 0
        self._own_decision: Timer | None = None
        self._awaited: Timer | None = None

    def execute(self) -> int:
        """Run until the end of the job on all hosts.

        Returns:
            The exit code, the same on every host.
        """
        self._reactor.on_signals((signal.SIGCHLD,), lambda _: self._children.reap())
        self._reactor.on_signals((signal.SIGTERM, signal.SIGINT), self._told_to_stop)
        self._guarded(self._begin)
        for number in early_signals.take():
            # from within the loop, which could not be left before it runs
            self._reactor.later(0.0, lambda number=number: self._told_to_stop(number))  # type: ignore[misc]
        while True:
            try:
                self._reactor.run()
                break
            except Exception as error:
                self._failed(error)
                if self._over:  # ending has gone wrong itself: what can still be done is to leave nothing behind
                    self._children.signal_all(signal.SIGKILL)
                    break
        discard_room(self._place.output_directory)
        if isinstance(self._preparation, Preparation):
            run_directory.remove(self._preparation.run_directory)
        self._say(f"{'stopped' if self._stopping else 'finished'}: exit code {self._exit_code} after {self._age}")
        self._console.close(5.0)
        return self._exit_code

    # Prepare and meet

    def _begin(self) -> None:
        reserve_room(self._place.output_directory)
        self._channel.open()
        # names before all else, so that a host on which something is wrong can tell the others
        self._find_names()
        if isinstance(self._preparation, Problem):
            raise self._preparation
        run_directory.create(self._preparation.run_directory)
        unpack_source(f"{self._place.base_directory}/input/data/{CHANNEL}", self._place.working_directory)
        if self._preparation.entry:
            require_entry(self._preparation.entry, self._place.working_directory)
        self._step_done("source code")

    def _find_names(self) -> None:
        # the leader's first, for the same reason
        others = [self._place.world[0], *(host for host in self._place.cluster.hosts if host != self._place.world[0])]
        if len(others) == 1 or self._place.addresses_told:
            self._channel.resolved(self._place.addresses)
            self._step_done("names")
            return
        NameWait(
            self._reactor,
            others,
            self._options.name_timeout,
            self._name_found,
            lambda problem: self._guarded(lambda: self._names_found(problem)),
        )

    def _name_found(self, name: str, address: str) -> None:
        self._addresses[name] = address
        self._channel.resolved({name: address})

    def _names_found(self, problem: Problem | None) -> None:
        if problem:
            raise problem
        self._step_done("names")

    def _step_done(self, step: str) -> None:
        self._steps.discard(step)
        if self._steps or self._over or not isinstance(self._preparation, Preparation):
            return
        command = pip_command(sys.executable, self._place.working_directory) if self._preparation.entry else None
        if not command:
            self._ready()
            return
        self._say("installing requirements.txt")
        pid, output = self._children.start(
            command,
            environment={**self._environment, **pip_environment(self._environment)},
            directory=self._place.working_directory,
            ended=lambda status: self._guarded(lambda: self._requirements_installed(status, stream)),
        )
        del pid
        stream = Stream(self._reactor, self._merger, output, f"[{self._place.host} pip] ".encode())

    def _requirements_installed(self, status: int, stream: Stream) -> None:
        stream.close()
        if self._over:
            return
        if status:
            why = pip_error(stream.tail.decode(errors="replace"))
            raise Problem(f"requirements.txt cannot be installed: {why}", kind="requirements", exit_code=NOT_STARTED)
        self._ready()

    def _ready(self) -> None:
        assert isinstance(self._preparation, Preparation)  # noqa: S101
        report = self._preparation.report
        if self._preparation.preflight_level != OFF:
            from training_launcher.preflight.examination import Examination  # noqa: PLC0415  one host needs none

            self._examination = Examination(
                self._reactor,
                self._children,
                self._preparation,
                seconds=self._options.preflight_timeout,
                asked=self._options.preflight is not None,
                report=self._channel.report,
            )
            report["preflight"] = self._examination.begin()
        self._channel.report({"type": "ready", "report": report})

    # Orders from the leader

    def _order(self, message: Message) -> None:
        kind = message["type"]
        if self._over:
            return
        if self._place.host == self._place.world[0]:
            for note in message.get("notes", ()):
                self._say(note)
        if kind == "go":
            self._guarded(lambda: self._go(tuple(message["processes"])))
        elif kind in ("check", "try") and self._examination:
            examination = self._examination
            self._guarded(lambda: examination.order(message, self._addresses))
        elif kind == "stop":
            self._stop(message["host"])
        elif kind == "stacks":
            self._guarded(lambda: self._examine(float(message["seconds"])))
        elif kind == "launch":
            self._guarded(lambda: self._launch(message["name"], tuple(message["argv"])))
        elif kind == "end":
            failure = message["failure"]
            self._end(Failure.from_message(failure) if failure else None, int(message["exit_code"]))

    def _go(self, processes: tuple[int, ...]) -> None:
        assert isinstance(self._preparation, Preparation)  # noqa: S101
        if self._examination:
            self._examination.close()
        plan = self._preparation.plan(processes, self._interface)
        self._describe(plan)
        for need in plan.needs:
            need.require(plan.host, self._environment, plan.working_directory)
        for port in plan.ports:
            require_free_port(port, plan.host, self._place.own_address)
        self._supervisor = Supervisor(
            self._reactor,
            self._merger,
            self._children,
            plan=plan,
            environment=self._environment,
            run_directory=self._preparation.run_directory,
            listener=self,
        )
        self._supervisor.start()
        if self._options.hang_timeout:
            self._reactor.every(min(1.0, self._options.hang_timeout / 5), self._tell_quiet)
        if plan.awaits is not None and not plan.commands:
            self._awaited = self._reactor.later(plan.awaits, lambda: self._guarded(lambda: self._missed(plan)))

    def _tell_quiet(self) -> None:
        quiet = self._supervisor.quiet if self._supervisor and not self._over else None
        if quiet is not None:
            self._channel.report({"type": "quiet", "seconds": quiet})

    def _examine(self, seconds: float) -> None:
        if self._stopping or not self._supervisor:
            return
        self._say(f"no rank on any host has written anything for {seconds:.0f} s: asking all of them where they stand")
        self._supervisor.examine(lambda ranks: self._channel.report({"type": "stacks", "ranks": ranks})).begin()

    def _launch(self, name: str, argv: tuple[str, ...]) -> None:
        if self._awaited:
            self._awaited.cancel()
        if self._supervisor:
            self._supervisor.start_awaited(name, argv)

    def _missed(self, plan: LaunchPlan) -> None:
        raise Problem(
            f"{plan.world[0]} has not sent the command that starts the ranks here within {plan.awaits:g} s",
            kind="not started",
            exit_code=NOT_STARTED,
        )

    def _describe(self, plan: LaunchPlan) -> None:
        assert isinstance(self._preparation, Preparation)  # noqa: S101
        mask = self._preparation.mask
        self._say(f"{plan.described} ({self._age} after the start)")
        for note in plan.notes:
            self._say(note)
        for command in plan.commands[:1]:
            self._say(f"$ {shown(mask.all(command.argv))}")

    def _stop(self, host: str) -> None:
        if self._stopping or not self._supervisor:
            return
        self._stopping = True
        self._say(f"stop, which {host} was told: the ranks have {self._options.grace:g} s to save and end")
        self._reactor.later(self._options.grace, self._grace_over)
        self._supervisor.stop_ranks()

    def _grace_over(self) -> None:
        if self._over or not self._supervisor:
            return
        left = ", ".join(str(rank.number) for rank in self._supervisor.running_ranks)
        if left:
            self._say(f"killing rank {left}, which did not end within {self._options.grace:g} s")
        self._supervisor.kill_ranks()
        self._reactor.later(_ANSWER, lambda: self._end(None, STOPPED))

    # What happens here

    def _told_to_stop(self, number: int) -> None:
        if self._over:
            return
        name = signal.Signals(number).name
        if self._stopping and number == signal.SIGINT and self._supervisor:
            self._say("interrupted again: killing the ranks")
            self._supervisor.kill_ranks()
            return
        self._say(f"got {name}")
        self._channel.report({"type": "stop"})
        if not self._supervisor:
            self._stopping = True
            self._end(None, STOPPED)

    def rank_failed(self, failure: Failure) -> None:
        """Part of `Listener`."""
        self._rank_has_failed = True
        self._report_failure(failure)

    def ranks_ended(self, *, clean: bool) -> None:
        """Part of `Listener`."""
        self._channel.report({"type": "ended", "clean": clean})

    def commands_ended(self, failure: Failure | None) -> None:
        """Part of `Listener`."""
        if failure is None:
            self._channel.report({"type": "done"})
        elif not self._rank_has_failed and not self._stopping:
            self._report_failure(failure)

    def launch_asked(self, host: str, name: str, argv: list[str]) -> None:
        """Part of `Listener`."""
        self._channel.report({"type": "launch", "host": host, "name": name, "argv": argv})

    def _guarded(self, step: Any) -> None:
        """Run a step of ours; whatever goes wrong in it becomes the job's failure."""
        try:
            step()
        except Exception as error:
            self._failed(error)

    def _failed(self, error: Exception) -> None:
        if isinstance(error, Problem):
            failure = Failure(error.kind, self._place.host, error.exit_code, error.message)
        elif isinstance(error, OSError) and error.errno in FULL:
            failure = Failure("disk full", self._place.host, NOT_STARTED, str(error))
        else:
            import traceback  # noqa: PLC0415  only here

            self._say(traceback.format_exc())
            failure = Failure(
                "launcher error",
                self._place.host,
                INTERNAL,
                f"{type(error).__name__}: {error}",
                detail=traceback.format_exc(),
            )
        self._report_failure(failure)

    def _report_failure(self, failure: Failure) -> None:
        if self._over:
            return
        if failure.weight < 2 or not self._own_decision:
            self._say(self._masked(f"failed: {failure.first_line}"))
        failure = failure._replace(summary=self._masked(failure.summary), detail=self._masked(failure.detail))
        if not self._own_decision:
            self._own_decision = self._reactor.later(_ANSWER, lambda: self._end(failure, failure.exit_code))
        self._channel.failed(failure)

    # The end

    def _end(self, failure: Failure | None, exit_code: int) -> None:
        if self._over:
            return
        self._over = True
        if self._stopping and failure:
            failure, exit_code = None, STOPPED  # what breaks while everything is told to end is no failure
        self._exit_code = exit_code
        if failure:
            self._say(self._masked(f"the job failed: {failure.first_line}"))
            try:
                written = write_failure(self._place.output_directory, self._masked(failure.text))
                if not written:
                    self._say("the failure file that the script has written stays as it is")
            except OSError as error:
                self._say(f"the failure file cannot be written: {error}")
        if self._supervisor:
            self._supervisor.release()
            if not failure:
                self._supervisor.end_services()
        ending = Ending(self._reactor, self._children, self._signal_all, self._leave)
        ending.begin(
            patience=0.0 if failure else _AGENT_END, grace=max(self._options.failure_grace, self._closing_time)
        )

    @property
    def _closing_time(self) -> float:
        return self._supervisor.closing_time if self._supervisor else 0.0

    def _signal_all(self, number: int) -> None:
        if self._supervisor:
            self._supervisor.end_all(number)
        else:
            self._children.signal_all(number)

    def _leave(self) -> None:
        if self._examination:
            self._examination.close()
        if self._supervisor:
            self._supervisor.close()
        self._channel.leave(self._reactor.stop)

    # Small things

    @property
    def _interface(self) -> str:
        """Which network interface leads to another host of the world; asked for where no file says it.

        Else libraries take any: Docker has a bridge with the same address on every node of a cluster.
        """
        others = [host for host in self._place.world if host != self._place.host]
        return interface_towards(self._addresses[others[0]]) if others else ""

    @property
    def _age(self) -> str:
        return f"{time.monotonic() - self._began:.1f} s"

    def _masked(self, text: str) -> str:
        return self._preparation.mask(text) if isinstance(self._preparation, Preparation) else text
