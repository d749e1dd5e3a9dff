"""The control channel with as many hosts as a job may have, as light clients in one process."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "container" / "src"
PORT = "17775"
REPORT = {"kind": "t", "processes": 8, "devices": "8 GPUs", "instance_type": "x", "automatic": True}

MANY_DESCRIPTORS = """
import resource
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 65536), most))
"""

LEADER = """
import json, sys
from training_launcher.control.leader import Leader
from training_launcher.reactor import Reactor
hosts = json.loads(sys.stdin.read())
reactor, said = Reactor(), []
def order(message):
    said.append(message["type"])
    if message["type"] == "end":
        leader.leave(reactor.stop)
leader = Leader(reactor, host=hosts[0], hosts=hosts, world=hosts, address="127.0.0.1", port=int(sys.argv[1]), token="t",
                silent_timeout=60, join_timeout=120, on_order=order, say=print)
leader.open()
leader.report({"type": "ready", "report": json.loads(sys.argv[2])})
reactor.run()
memory = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps({"said": said, "memory": memory}))
"""

MEMBERS = """
import json, sys, time
from training_launcher.control.member import Member
from training_launcher.reactor import Reactor
hosts = json.loads(sys.stdin.read())
reactor, members, going, told, times = Reactor(), [], [], [], [time.monotonic()]
def order(message):
    if message["type"] == "go":
        going.append(sum(message["processes"]))
        if len(going) == len(hosts) - 1:
            times.append(time.monotonic())
            members[-1].report({"type": "failed", "failure": {
                "kind": "exception", "host": hosts[-1], "exit_code": 9, "summary": "ValueError", "rank": 1}})
    else:
        told.append((message["exit_code"], message["failure"]["host"]))
        if len(told) == len(hosts) - 1:
            times.append(time.monotonic())
            reactor.stop()
for host in hosts[1:]:
    member = Member(reactor, host=host, leader=hosts[0], port=int(sys.argv[1]), token="t", silent_timeout=60,
                    join_timeout=120, on_order=order, say=print)
    members.append(member)
    member.open()
    member.resolved({hosts[0]: "127.0.0.1"})
    member.report({"type": "ready", "report": json.loads(sys.argv[2])})
reactor.run()
print(json.dumps({"going": sorted(set(going)), "told": sorted(set(told)), "times": times}))
"""


@dataclass(frozen=True, kw_only=True)
class Meeting:
    """How the hosts met, and how the last of them failed.

    Attributes:
        joined: Seconds until all hosts were told to go.
        told: Seconds from the first failure until all hosts knew it.
        megabytes: The most memory that the leader took.
        going: The different numbers of ranks that the hosts were told of.
        ends: The different ends that they were told of: exit code and failed host.
        said: The orders to the leader's own host.
    """

    joined: float
    told: float
    megabytes: float
    going: list[int]
    ends: list[list[object]]
    said: list[str]


def meet(count: int) -> Meeting:
    """Let so many hosts meet."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if most < count + 50:
        raise RuntimeError(f"every host needs a descriptor, and this process may have {most}: see `ulimit -n`")
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", MANY_DESCRIPTORS + code, PORT, json.dumps(REPORT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"PYTHONPATH": str(SOURCE)},
        )
        for code in (LEADER, MEMBERS)
    ]
    for process in processes:
        assert process.stdin
        process.stdin.write(json.dumps([f"algo-{number + 1}" for number in range(count)]))
        process.stdin.close()
    leader, members = (json.loads(process.stdout.read()) for process in processes if process.stdout)
    if any(process.wait() for process in processes):
        raise RuntimeError("the leader or the members ended with an error, which stands above")
    begin, joined, told = members["times"]
    return Meeting(
        joined=joined - begin,
        told=told - joined,
        megabytes=leader["memory"] / 1024,
        going=members["going"],
        ends=members["told"],
        said=leader["said"],
    )
