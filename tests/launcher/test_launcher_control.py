"""The control channel: framing, and the leader's decisions without sockets."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training_launcher.control.agreement import agree
from training_launcher.control.channel import job_token
from training_launcher.control.coordinator import Coordinator
from training_launcher.failure import Failure
from training_launcher.framing import Decoder, NotOurs, encode


@given(st.lists(st.dictionaries(st.text(), st.text() | st.integers(), max_size=3)), st.integers(1, 50))
def test_messages_come_out_as_they_went_in_however_they_are_cut(contents: list[dict[str, Any]], size: int) -> None:
    messages = [{**content, "type": "t"} for content in contents]
    data = b"".join(encode(message) for message in messages)
    decoder = Decoder()
    got = [message for start in range(0, len(data), size) for message in decoder.feed(data[start : start + size])]
    assert got == messages


@pytest.mark.parametrize(
    "data",
    [b"GET / HTTP/1.1\r\n\r\n", b"SSH-2.0-OpenSSH", b"\x00\x00\x00\x02[]", b"\x00\x00\x00\x01x", b"\0\0\0\x02{}"],
)
def test_strangers_are_noticed(data: bytes) -> None:
    with pytest.raises(NotOurs):
        Decoder().feed(data)


def test_the_token_tells_jobs_apart() -> None:
    hosts = ["algo-1", "algo-2"]
    token = job_token(hosts, {"TRAINING_JOB_NAME": "a"})
    assert token == job_token(hosts, {"TRAINING_JOB_NAME": "a", "OTHER": "x"})
    assert token != job_token(hosts, {"TRAINING_JOB_NAME": "b"})
    assert token != job_token(["algo-1"], {"TRAINING_JOB_NAME": "a"})


def report(processes: int = 2, **members: Any) -> dict[str, Any]:
    return {
        "kind": "torchrun",
        "processes": processes,
        "devices": f"{processes} GPUs",
        "instance_type": "ml.p5.48xlarge",
        "automatic": True,
        **members,
    }


class Hosts:
    """A coordinator with a clock that is moved by hand."""

    def __init__(self, count: int = 3, world: int | None = None) -> None:
        self.names = [f"algo-{number + 1}" for number in range(count)]
        self.orders: list[dict[str, Any]] = []
        self.time = 0.0
        self._timers: list[tuple[float, Callable[[], None]]] = []
        self.leader = Coordinator(
            hosts=self.names,
            world=self.names[: world or count],
            broadcast=self.orders.append,
            later=lambda seconds, callback: self._timers.append((self.time + seconds, callback)),
            now=lambda: self.time,
        )

    def tell(self, host: int, kind: str, **members: Any) -> None:
        self.leader.receive(self.names[host], json.loads(json.dumps({"type": kind, **members})))
        self.wait(0.0)

    def wait(self, seconds: float) -> None:
        self.time += seconds
        due = [timer for timer in self._timers if timer[0] <= self.time]
        self._timers = [timer for timer in self._timers if timer[0] > self.time]
        for _, callback in sorted(due, key=lambda timer: timer[0]):
            callback()

    def go(self) -> "Hosts":
        for host in range(len(self.names)):
            self.tell(host, "ready", report=report())
        assert self.orders.pop() == {"type": "go", "processes": [2] * len(self.names)}
        return self

    def fail(self, host: int, summary: str, **members: Any) -> None:
        failure = Failure("exception", self.names[host], 1, summary, rank=host, local_rank=0)._replace(**members)
        self.tell(host, "failed", failure=failure.to_message())

    @property
    def end(self) -> tuple[int, str | None]:
        """The only order: exit code and failure."""
        (order,) = self.orders
        assert order["type"] == "end"
        return order["exit_code"], order["failure"] and order["failure"]["summary"]


def test_ranks_start_when_every_host_is_ready() -> None:
    hosts = Hosts()
    hosts.tell(0, "ready", report=report())
    hosts.tell(2, "ready", report=report())
    assert hosts.orders == []
    assert hosts.leader.missing == ["algo-2"]
    hosts.tell(1, "ready", report=report())
    assert [order["type"] for order in hosts.orders] == ["go"]


def test_a_missing_host_is_named() -> None:
    hosts = Hosts(count=30)
    hosts.tell(0, "ready", report=report())
    hosts.leader.timed_out(60)
    hosts.wait(0)
    code, summary = hosts.end
    assert code == 3
    assert str(summary).startswith(
        "algo-2, algo-3, algo-4, algo-5, algo-6, algo-7, algo-8, algo-9 and 21 more not ready"
    )


def test_all_end_together_with_success() -> None:
    hosts = Hosts().go()
    for host in (2, 0):
        hosts.tell(host, "done")
    assert hosts.orders == []
    hosts.tell(1, "done")
    assert hosts.end == (0, None)


def test_a_failure_before_the_start_needs_no_waiting() -> None:
    hosts = Hosts()
    hosts.fail(1, "no script", exit_code=2)
    assert hosts.end == (2, "no script")


def test_the_earlier_failure_wins_whichever_is_told_first() -> None:
    hosts = Hosts().go()
    hosts.fail(0, "later")
    assert hosts.orders == []
    hosts.wait(0.1)
    hosts.fail(2, "earlier", age=0.3, exit_code=9)
    hosts.wait(0.4)
    assert hosts.end == (9, "earlier")


def test_a_cause_wins_over_an_earlier_victim_and_ends_the_waiting() -> None:
    hosts = Hosts().go()
    hosts.fail(0, "Connection closed by peer", weight=1)
    hosts.wait(1.0)
    assert hosts.orders == []
    hosts.fail(1, "the cause")
    hosts.wait(0.5)
    assert hosts.end == (1, "the cause")


def test_a_victim_alone_is_told_in_the_end() -> None:
    hosts = Hosts().go()
    hosts.fail(0, "Connection closed by peer", weight=1)
    hosts.wait(2.5)
    assert hosts.end == (1, "Connection closed by peer")


def test_nothing_after_the_end_changes_it() -> None:
    hosts = Hosts().go()
    hosts.fail(0, "cause")
    hosts.wait(1)
    hosts.fail(1, "other")
    hosts.tell(2, "stop")
    hosts.leader.lost("algo-2", "gone")
    hosts.wait(10)
    assert hosts.end == (1, "cause")


def test_a_lost_host_is_a_cause_unless_it_was_done() -> None:
    hosts = Hosts().go()
    hosts.tell(1, "done")
    hosts.leader.lost("algo-2", "gone")
    hosts.wait(10)
    assert hosts.orders == []
    hosts.leader.lost("algo-3", "gone")
    hosts.wait(1)
    assert hosts.end == (1, "gone")


@pytest.mark.parametrize(("clean", "code"), [((True, True, True), 0), ((True, False, True), 143)])
def test_a_stop_ends_when_the_last_rank_has_ended(clean: tuple[bool, ...], code: int) -> None:
    hosts = Hosts().go()
    hosts.tell(1, "stop")
    assert hosts.orders.pop() == {"type": "stop", "host": "algo-2"}
    hosts.tell(0, "stop")
    hosts.fail(0, "what breaks now is no failure")
    for host, ended in enumerate(clean):
        assert hosts.orders == []
        hosts.tell(host, "ended", clean=ended)
    hosts.wait(10)
    assert hosts.end == (code, None)


def test_a_stop_with_hosts_that_are_done_or_lost() -> None:
    hosts = Hosts().go()
    hosts.tell(0, "done")
    hosts.tell(1, "stop")
    hosts.orders.clear()
    hosts.tell(1, "ended", clean=True)
    hosts.leader.lost("algo-3", "gone")
    assert hosts.end == (143, None)


def test_a_stop_before_the_start() -> None:
    hosts = Hosts()
    hosts.tell(1, "stop")
    assert hosts.end == (143, None)


def test_messages_of_a_newer_launcher_are_ignored() -> None:
    hosts = Hosts().go()
    hosts.tell(1, "weather", sky="blue")
    assert hosts.orders == []


def test_agreement_counts_ranks() -> None:
    reports = {"a": report(8), "b": report(2, instance_type="ml.g5.xlarge"), "c": report(8), "d": report(0)}
    assert agree(["a", "b", "c"], reports) == (8, 2, 8)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (report(7), "b has 7 GPUs, but a of the same instance type has 8 GPUs: a device is missing or broken"),
        (report(8, kind="processes"), "b starts processes, but a starts torchrun"),
    ],
)
def test_hosts_that_do_not_fit_are_named(other: dict[str, Any], message: str) -> None:
    failure = agree(["a", "b"], {"a": report(8), "b": other})
    assert isinstance(failure, Failure)
    assert failure.host == "b"
    assert failure.summary.startswith(message)


def test_a_given_number_of_processes_is_believed() -> None:
    reports = {"a": report(8, automatic=False), "b": report(7, automatic=False)}
    assert agree(["a", "b"], reports) == (8, 7)
