"""The control channel with as many hosts as a job may have, as light clients in one process."""

import json
import resource
import subprocess
import sys
from pathlib import Path

HOSTS = 2048

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
import json, sys
from training_launcher.control.member import Member
from training_launcher.reactor import Reactor
hosts = json.loads(sys.stdin.read())
reactor, members, going, told = Reactor(), [], [], []
def order(message):
    if message["type"] == "go":
        going.append(sum(message["processes"]))
        if len(going) == len(hosts) - 1:
            members[-1].report({"type": "failed", "failure": {
                "kind": "exception", "host": hosts[-1], "exit_code": 9, "summary": "ValueError", "rank": 1}})
    else:
        told.append((message["exit_code"], message["failure"]["host"]))
        if len(told) == len(hosts) - 1:
            reactor.stop()
for host in hosts[1:]:
    member = Member(reactor, host=host, leader=hosts[0], port=int(sys.argv[1]), token="t", silent_timeout=60,
                    join_timeout=120, on_order=order, say=print)
    members.append(member)
    member.open()
    member.resolved({hosts[0]: "127.0.0.1"})
    member.report({"type": "ready", "report": json.loads(sys.argv[2])})
reactor.run()
print(json.dumps({"going": sorted(set(going)), "told": sorted(set(told))}))
"""


def test_two_thousand_hosts_start_together_and_hear_of_the_first_failure() -> None:
    port = "17775"
    report = {"kind": "t", "processes": 8, "devices": "8 GPUs", "instance_type": "x", "automatic": True}
    hosts = json.dumps([f"algo-{number + 1}" for number in range(HOSTS)])
    source = Path(__file__).resolve().parents[2] / "container/src"
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    assert most > HOSTS + 50, "this test needs a descriptor for every host"
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", MANY_DESCRIPTORS + code, port, json.dumps(report)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"PYTHONPATH": str(source)},
        )
        for code in (LEADER, MEMBERS)
    ]
    for process in processes:
        assert process.stdin
        process.stdin.write(hosts)
        process.stdin.close()
    leader, members = (json.loads(process.stdout.read()) for process in processes if process.stdout)
    assert [process.wait() for process in processes] == [0, 0]
    assert members == {"going": [8 * HOSTS], "told": [[9, f"algo-{HOSTS}"]]}
    assert leader["said"] == ["go", "end"]
    assert leader["memory"] < 200 * 1024
