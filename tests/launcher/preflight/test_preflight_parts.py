"""The preflight's rules, without hosts."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import pytest

from training_launcher.control.agreement import agree
from training_launcher.failure import Failure
from training_launcher.framing import encode
from training_launcher.preflight.channels import channels_with_files, lacking
from training_launcher.preflight.director import Director
from training_launcher.preflight.interface import interface_problem, variable_problem
from training_launcher.preflight.knock import REFUSED, SILENT, Answer
from training_launcher.preflight.levels import effective_level
from training_launcher.preflight.network_verdict import judge_network, summary_of
from training_launcher.preflight.paths import targets
from training_launcher.preflight.trial_verdict import Tried, judge_trial

THREE = ("algo-1", "algo-2", "algo-3")


@pytest.mark.parametrize("count", [2, 3, 4, 2048])
def test_every_host_in_both_directions_and_few_paths(count: int) -> None:
    world = [f"algo-{number + 1}" for number in range(count)]
    paths = {(host, target) for host in world for target in targets(world, host)}
    assert all((target, host) in paths for host, target in paths)
    assert all((world[0], host) in paths for host in world[1:])
    assert all(host != target for host, target in paths)
    assert max(len(targets(world, host)) for host in world[1:]) <= 3
    assert len(paths) <= 4 * (count - 1)


@pytest.mark.parametrize(
    ("asked", "hosts", "efa", "level"),
    [
        (None, 1, True, "off"),
        ("collectives", 1, False, "off"),
        (None, 2, False, "network"),
        (None, 2, True, "collectives"),
        ("network", 2, True, "network"),
        ("off", 2, True, "off"),
    ],
)
def test_level(asked: str | None, hosts: int, efa: bool, level: str) -> None:
    assert effective_level(asked, hosts=hosts, efa=efa) == level


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("", "", ""),
        ("NCCL_SOCKET_IFNAME", "", ""),
        ("NCCL_SOCKET_IFNAME", "=eth0", ""),
        ("NCCL_SOCKET_IFNAME", "eth", ""),
        ("NCCL_SOCKET_IFNAME", "^docker,lo", ""),
        ("NCCL_SOCKET_IFNAME", "^=docker0", ""),
        ("NCCL_SOCKET_IFNAME", "=eth", "NCCL_SOCKET_IFNAME==eth leaves no interface of lo, eth0, eth1"),
        ("NCCL_SOCKET_IFNAME", "^lo,eth", "leaves no interface"),
        ("GLOO_SOCKET_IFNAME", "", ""),
        ("GLOO_SOCKET_IFNAME", "eth0,eth1", ""),
        ("GLOO_SOCKET_IFNAME", "eth0,ens5", "GLOO_SOCKET_IFNAME names ens5, but there are lo, eth0, eth1"),
    ],
)
def test_interfaces_in_variables(variable: str, value: str, words: str) -> None:
    problem = variable_problem(variable, value, ["lo", "eth0", "eth1"])
    assert words in problem
    assert bool(words) == bool(problem)


def test_interface_of_the_job(tmp_path: Path) -> None:
    assert interface_problem("lo", "", "") == ""
    assert interface_problem("", "", "") == ""
    there = ", ".join(name for _, name in socket.if_nameindex())
    assert interface_problem("ethwe", "", "").endswith(f"is 'ethwe', but there are {there}")
    (tmp_path / "sys/class/net/lo").mkdir(parents=True)
    (tmp_path / "sys/class/net/lo/operstate").write_text("down\n")
    assert interface_problem("lo", "", "", str(tmp_path)) == "the network interface lo is down"


def test_channels_with_files(tmp_path: Path) -> None:
    data = tmp_path / "input/data"
    for folder in ("empty", "nested/a/b", "only_folders/a/b", "launcher", "wide"):
        (data / folder).mkdir(parents=True)
    (data / "nested/a/b/file").touch()
    for number in range(2100):
        (data / "wide" / str(number)).mkdir()
    os.mkfifo(data / "pipe_0")
    found = channels_with_files(
        str(tmp_path),
        {
            "empty": {"TrainingInputMode": "File"},
            "nested": {},
            "only_folders": None,
            "absent": {},
            "pipe": {"TrainingInputMode": "Pipe"},
            "launcher": {},
            "wide": {},
        },
    )
    assert found == {"empty": False, "nested": True, "only_folders": False, "absent": False, "wide": True}


def test_a_channel_may_be_empty_everywhere_or_not_be_there_at_all() -> None:
    filled = {"algo-1": {"out": False, "train": True}, "algo-2": {"out": False, "train": False}, "algo-3": {}}
    assert list(lacking(THREE, filled)) == [("train", "algo-2", "algo-1")]


def answers(**errors: str) -> dict[str, dict[str, Any]]:
    """Summaries of three hosts; `algo_1_algo_2=SILENT` breaks one path."""
    broken = {
        tuple(name.replace("_", "-").replace("-algo-", " algo-").split(" ")): error for name, error in errors.items()
    }
    return {
        host: summary_of(
            [Answer(target, broken.get((host, target), ""), 0.002, 0.0) for target in targets(THREE, host)],
            leader=host == "algo-1",
        )
        for host in THREE
    }


@pytest.mark.parametrize(
    ("errors", "host", "words"),
    [
        (
            {"algo_1_algo_2": SILENT},
            "algo-2",
            ["algo-1 does not reach algo-2 (no answer), though algo-2 reaches algo-1: packets are", "security group"],
        ),
        (
            {"algo_2_algo_3": REFUSED, "algo_3_algo_2": REFUSED},
            "algo-3",
            ["algo-2 does not reach algo-3 (connection refused), nor the other way round: something", "firewall"],
        ),
        (
            {"algo_1_algo_3": SILENT, "algo_2_algo_3": SILENT},
            "algo-3",
            ["algo-1 does not reach algo-3", "2 of 6 paths are broken, all from or to algo-3"],
        ),
        (
            {"algo_1_algo_2": "algo-7 answers at its address 10.0.0.2"},
            "algo-2",
            ["(no right answer)", "algo-7 answers at its address 10.0.0.2"],
        ),
    ],
)
def test_a_broken_path_names_both_hosts_and_the_likely_cause(
    errors: dict[str, str], host: str, words: list[str]
) -> None:
    failure = judge_network(THREE, answers(**errors), seconds=0.1)
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.host, failure.exit_code) == ("preflight", host, 4)
    for word in words:
        assert word in failure.summary, failure.summary
    assert len(failure.text) <= 990


def test_clocks() -> None:
    summaries = answers()
    summaries["algo-1"]["ahead"] = {"algo-2": 0.3, "algo-3": -7.25}
    said = judge_network(THREE, summaries, seconds=0.1)
    assert isinstance(said, list)
    assert "clocks within 7.25 s" in said[0]
    assert said[1].startswith("warning: the clock of algo-3 is 7.2 s behind that of algo-1")
    assert len(said) == 2


def report(bad: list[dict[str, Any]] | None = None, network: str = "") -> dict[str, Any]:
    return {"bad": bad or [], "seconds": 0.01, "bytes": 256 << 20, "network": network, "took": 9.0}


def tried(reports: dict[str, dict[str, Any]], *, efa: bool = True) -> Tried:
    return Tried(
        world=THREE,
        processes=(2, 2, 2),
        reports=reports,
        label="nccl over EFA",
        suspects="the security group",
        efa=efa,
        gigabits=3200,
        seconds=120,
    )


def test_bandwidth_beside_what_the_devices_say() -> None:
    said = judge_trial(tried({host: report(network="Libfabric") for host in THREE}))
    # 2 (n - 1) / n x 256 MiB / 0.01 s
    assert said == [
        "preflight: nccl over EFA (network Libfabric): 6 ranks add up; bus bandwidth of a 256 MiB all-reduce "
        "44.7 GB/s, and each host's network devices say that they carry 400 GB/s (9.0 s)"
    ]


def bad(rank: int, stage: str, error: str = "", *, victim: bool = False) -> dict[str, Any]:
    return {"rank": rank, "stage": stage, "error": error, "victim": victim}


@pytest.mark.parametrize(
    ("reports", "host", "words"),
    [
        (
            {"algo-2": report([bad(2, "joined")]), "algo-3": report([bad(4, "heard")])},
            "algo-2",
            "failed between algo-1 and algo-2: rank 2 heard nothing of rank 1: nothing happened within 120 s (2 ranks",
        ),
        (
            {"algo-1": report([bad(0, "joined")])},
            "algo-1",
            "failed between algo-3 and algo-1: rank 0 heard nothing of rank 5",
        ),
        ({"algo-3": report([bad(5, "joined")])}, "algo-3", "failed within algo-3: rank 5 heard nothing of rank 4"),
        (
            {
                "algo-1": report([bad(0, "started", "exit code 1: Connection reset", victim=True)]),
                "algo-3": report([bad(4, "started", "exit code 1: RuntimeError: no device")]),
            },
            "algo-3",
            "between algo-1 and algo-3: rank 4 did not meet the others: exit code 1: RuntimeError: no device",
        ),
        (
            {"algo-2": report(network="Socket")},
            "algo-2",
            "NCCL took its own network Socket on algo-2 although EFA and aws-ofi-nccl are there, so traffic between "
            "algo-2 and algo-1 would crawl: the plug-in could not be loaded",
        ),
    ],
)
def test_a_failed_trial_names_two_hosts(reports: dict[str, dict[str, Any]], host: str, words: str) -> None:
    failure = judge_trial(tried({**{name: report() for name in THREE}, **reports}))
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.host, failure.exit_code) == ("preflight", host, 4)
    assert words in failure.summary
    assert len(failure.text) <= 990


def test_without_efa_sockets_are_right() -> None:
    assert isinstance(judge_trial(tried({host: report(network="Socket") for host in THREE}, efa=False)), list)


class Stage:
    """A director with its hosts played by the test."""

    def __init__(self, hosts: int, **part: Any) -> None:
        self.world = [f"algo-{number + 1}" for number in range(hosts)]
        self.sent: list[dict[str, Any]] = []
        self.passed: list[str] | None = None
        self.failure: Failure | None = None
        self.due: list[Any] = []
        preflight = {
            "level": "network",
            "asked": False,
            "port": 40000,
            "trial_port": 50000,
            "channels": {},
            "torch": True,
            "label": "gloo over TCP",
            "suspects": "the security group",
            "efa": False,
            "gigabits": 0.0,
            "seconds": 120.0,
            **part,
        }
        self.reports: dict[str, dict[str, Any]] = {host: {"preflight": dict(preflight)} for host in self.world}

    def begin(self) -> None:
        self.director = Director(
            world=self.world,
            reports=self.reports,
            processes=[1] * len(self.world),
            broadcast=self.sent.append,
            later=lambda _seconds, callback: self.due.append(callback),
            now=lambda: 0.0,
            passed=lambda notes: setattr(self, "passed", list(notes)),
            failed=lambda failure: setattr(self, "failure", failure),
        )
        self.director.begin()

    def check_all(self) -> None:
        for host in self.world:
            found = [Answer(target, "", 0.001, 0.0) for target in targets(self.world, host)]
            summary = summary_of(found, leader=host == self.world[0])
            self.director.receive(host, {"type": "checked", "summary": summary})


def test_two_thousand_hosts_are_cheap() -> None:
    """One small message to each host, and one from each."""
    stage = Stage(2048)
    stage.begin()
    (order,) = stage.sent
    assert len(encode(order)) < 20_000
    stage.check_all()
    assert stage.passed
    assert "2048 hosts reach each other both ways (8188 paths" in stage.passed[0]


def test_a_host_that_does_not_take_part_ends_the_preflight_at_once() -> None:
    stage = Stage(2)
    del stage.reports["algo-2"]["preflight"]
    stage.begin()
    assert stage.passed == []
    assert not stage.sent


def test_off() -> None:
    stage = Stage(2, level="off")
    stage.begin()
    assert stage.passed == []


def test_collectives_come_after_the_network() -> None:
    stage = Stage(2, level="collectives")
    stage.begin()
    stage.check_all()
    order = stage.sent[-1]
    assert (order["type"], order["port"], order["processes"]) == ("try", 50000, [1, 1])
    assert order["notes"][-1] == "preflight: trying gloo over TCP in throwaway processes, for at most 120 s"
    assert stage.passed is None
    stage.director.receive("algo-1", {"type": "tried", "report": report()})
    stage.director.receive("algo-2", {"type": "tried", "report": report()})
    assert stage.passed is not None
    assert len(stage.passed) == 1


def test_the_verdict_waits_a_little_for_the_cause() -> None:
    stage = Stage(3, level="collectives")
    stage.begin()
    stage.check_all()
    lost = [bad(0, "started", "exit code 1: Connection closed by peer", victim=True)]
    stage.director.receive("algo-1", {"type": "tried", "report": report(lost)})
    assert stage.failure is None
    stage.director.receive("algo-2", {"type": "tried", "report": report([bad(1, "started", "exit code 1: mine")])})
    for callback in stage.due:
        callback()
    assert stage.failure is not None
    assert "mine" in stage.failure.summary


@pytest.mark.parametrize("asked", [True, False])
def test_without_torch(asked: bool) -> None:
    """The default must not stop a job that does not use torch."""
    stage = Stage(2, level="collectives", torch=False, asked=asked)
    stage.begin()
    stage.check_all()
    if asked:
        assert stage.failure is not None
        assert "needs torch" in stage.failure.summary
    else:
        assert stage.passed is not None
        assert "not tried, since algo-1 has no torch" in stage.passed[-1]


def test_hosts_of_one_type_must_have_one_way() -> None:
    common = {"kind": "torchrun", "processes": 8, "automatic": True, "devices": "8 GPUs", "instance_type": "ml.p5"}
    reports = {
        "algo-1": {**common, "collectives": "nccl over EFA"},
        "algo-2": {**common, "collectives": "nccl over TCP"},
    }
    failure = agree(["algo-1", "algo-2"], reports)
    assert isinstance(failure, Failure)
    assert failure.summary.startswith("algo-2 would use nccl over TCP, but algo-1 of the same instance type nccl over")
    reports["algo-2"]["instance_type"] = "ml.c5"
    reports["algo-2"]["collectives"] = "gloo over TCP"
    assert agree(["algo-1", "algo-2"], reports) == (8, 8)
