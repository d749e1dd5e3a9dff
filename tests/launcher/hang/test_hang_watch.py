"""The leader's watch over the hosts' silence, with a clock of the test's own."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable

import pytest

from training_launcher.command_line import parse_command_line
from training_launcher.failure import Failure
from training_launcher.hang.watch import ANSWER, HangWatch
from training_launcher.problems import Problem


class World:
    """Two hosts, and time that passes when it is told to."""

    def __init__(self, seconds: float = 10) -> None:
        self.time = 1000.0
        self.sent: list[dict[str, object]] = []
        self.failures: list[Failure] = []
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self.watch = HangWatch(
            hosts=["algo-1", "algo-2"],
            seconds=seconds,
            broadcast=self.sent.append,
            later=self._later,
            now=lambda: self.time,
            failed=self.failures.append,
        )

    def _later(self, seconds: float, callback: Callable[[], None]) -> None:
        heapq.heappush(self._timers, (self.time + seconds, next(self._order), callback))

    def passes(self, seconds: float) -> None:
        end = self.time + seconds
        while self._timers and self._timers[0][0] <= end:
            self.time, _, callback = heapq.heappop(self._timers)
            callback()
        self.time = end

    def quiet(self, host: str, seconds: float) -> None:
        self.watch.receive(host, {"type": "quiet", "seconds": seconds})

    def stacks(self, host: str, rank: int, state: str) -> None:
        one = {"rank": rank, "local": 0, "state": state, "quiet": 1.0, "frames": [["train.py", 3, "step"]]}
        self.watch.receive(host, {"type": "stacks", "ranks": [one]})


def test_output_anywhere_is_progress() -> None:
    world = World()
    for _ in range(10):
        world.passes(5)
        world.quiet("algo-1", 50)
        world.quiet("algo-2", 1)
    assert not world.sent
    world.passes(9.5)
    assert world.sent == [{"type": "stacks", "seconds": pytest.approx(10)}], "ten seconds after the last byte"


def test_decides_as_soon_as_all_have_answered() -> None:
    world = World()
    world.passes(10)
    world.stacks("algo-1", 0, "S")
    assert not world.failures
    world.stacks("algo-2", 1, "T")
    (failure,) = world.failures
    assert (failure.kind, failure.host, failure.rank, failure.exit_code) == ("hang", "algo-2", 1, 124)
    world.passes(100)
    assert len(world.failures) == 1


def test_a_host_that_does_not_answer_is_not_waited_for() -> None:
    world = World()
    world.passes(10)
    world.stacks("algo-1", 0, "S")
    world.passes(ANSWER)
    (failure,) = world.failures
    assert failure.detail == "rank 0 (algo-1): at train.py:3 in step"


def test_output_while_the_ranks_are_asked_changes_nothing() -> None:
    """They have been told to end by then."""
    world = World()
    world.passes(10)
    assert world.watch.examining
    world.quiet("algo-1", 0)
    world.passes(ANSWER)
    assert len(world.failures) == 1


@pytest.mark.parametrize("seconds", ["0", "-1", "soon", "inf", "nan"])
def test_a_timeout_that_makes_no_sense_is_refused(seconds: str) -> None:
    with pytest.raises(Problem, match="--hang-timeout: must be a number of seconds above 0"):
        parse_command_line(["processes", "--hang-timeout", seconds, "--", "train.py"], {})
