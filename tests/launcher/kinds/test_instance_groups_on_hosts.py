"""Heterogeneous clusters: a group that feeds data beside a group that trains."""

import json
import signal
from collections.abc import Callable

import pytest
from launcher_job import LauncherJob

# the first host is the data group's, so that neither rank 0 nor the leader may be taken to be algo-1
GROUPS = [
    {"instance_group_name": "data", "instance_type": "ml.c5.9xlarge", "hosts": ["algo-1"]},
    {"instance_group_name": "train", "instance_type": "ml.p4d.24xlarge", "hosts": ["algo-3", "algo-2"]},
]

SERVE = """
import json, os, signal, socketserver, sys
served = []
def told(*_):
    print("told to end after", sorted(served), sys.argv[1:], os.environ["SM_USER_ARGS"], flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, told)
if "broken" in sys.argv:
    raise OSError("the corpus is not there")
class Serve(socketserver.StreamRequestHandler):
    def handle(self):
        served.append(int(self.rfile.readline()))
        self.wfile.write(b"sample\\n")
socketserver.TCPServer.allow_reuse_address = True
print("serving for", os.environ["SM_MASTER_ADDR"], flush=True)
socketserver.TCPServer(("", 5000), Serve).serve_forever()
"""

TRAIN = """
import json, os, signal, socket, sys, time
rank = int(os.environ["RANK"])
server = json.loads(os.environ["SM_INSTANCE_GROUPS_DICT"])["data"]["hosts"][0]
def fetch(number):
    for _ in range(200):
        try:
            with socket.create_connection((server, 5000), 5) as peer:
                peer.sendall(b"%d\\n" % number)
                return peer.makefile().readline().strip()
        except ConnectionRefusedError:
            time.sleep(0.05)
names = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "SM_CURRENT_HOST", "SM_CURRENT_INSTANCE_GROUP",
         "SM_CURRENT_INSTANCE_TYPE",
         "SM_DISTRIBUTION_INSTANCE_GROUPS", "SM_INSTANCE_GROUPS", "SM_IS_HETERO", "SM_CURRENT_INSTANCE_GROUP_HOSTS")
print(json.dumps({"fetched": fetch(rank), "argv": sys.argv[1:], **{name: os.environ[name] for name in names}}))
if "stop" in sys.argv:
    signal.signal(signal.SIGTERM, lambda *_: (print("saved with", fetch(10 + rank), flush=True), sys.exit(0)))
    print("training", flush=True)
    time.sleep(1000)
"""


@pytest.fixture
def mixed(make_job: Callable[[int], LauncherJob]) -> LauncherJob:
    """Three hosts in two groups."""
    job = make_job(3)
    for host in job.names:
        group = next(group for group in GROUPS if host in group["hosts"])
        job.write_config(
            "resourceconfig.json",
            {
                "current_host": host,
                "hosts": job.names,
                "current_group_name": group["instance_group_name"],
                "current_instance_type": group["instance_type"],
                "instance_groups": GROUPS,
                "network_interface_name": "eth0",
            },
            host,
        )
    job.source(train__py=TRAIN, serve__py=SERVE)
    return job


def command(*words: str) -> str:
    return json.dumps(["data", *words])


def test_one_world_of_the_group_that_trains_beside_the_other_groups_command(mixed: LauncherJob) -> None:
    mixed.write_config("hyperparameters.json", {"lr": "0.1"})
    outcomes = mixed.run(
        "processes", "--instance-group", "train", "--group-command", command("serve.py", "--port", "a b"),
        "--", "train.py", "--fixed",
    )  # fmt: skip
    assert {outcome.code for outcome in outcomes.values()} == {0}, outcomes
    for host, rank in (("algo-2", 0), ("algo-3", 1)):
        assert json.loads(outcomes[host].lines_of(f"rank {rank}")[0]) == {
            "fetched": "sample",
            "argv": ["--fixed", "--lr", "0.1"],
            "RANK": str(rank),
            "WORLD_SIZE": "2",
            "MASTER_ADDR": "algo-2",
            "SM_CURRENT_HOST": host,
            "SM_CURRENT_INSTANCE_GROUP": "train",
            "SM_CURRENT_INSTANCE_TYPE": "ml.p4d.24xlarge",
            "SM_DISTRIBUTION_INSTANCE_GROUPS": '["train"]',
            "SM_INSTANCE_GROUPS": '["data","train"]',
            "SM_IS_HETERO": "true",
            "SM_CURRENT_INSTANCE_GROUP_HOSTS": '["algo-2","algo-3"]',
        }
    assert outcomes["algo-1"].lines_of("group data") == [
        "serving for algo-2",
        """told to end after [0, 1] ['--port', 'a b'] ["--port","a b"]""",
    ]
    assert "runs group data beside algo-2, algo-3" in outcomes["algo-1"].text


def test_a_group_with_a_command_takes_no_part_unasked(mixed: LauncherJob) -> None:
    """No --instance-group: all groups but those that have something of their own to do."""
    outcomes = mixed.run("processes", "--group-command", command("serve.py"), "--", "train.py")
    assert {outcome.code for outcome in outcomes.values()} == {0}, outcomes
    assert json.loads(outcomes["algo-3"].lines_of("rank 1")[0])["WORLD_SIZE"] == "2"


def test_a_group_without_a_command_waits_and_ends_with_the_worlds_failure(mixed: LauncherJob) -> None:
    mixed.source(train__py="import os\nif os.environ['RANK'] == '1': raise ValueError('loss is NaN')\nimport time\n"
                 "time.sleep(100)")  # fmt: skip
    outcomes = mixed.run("processes", "--instance-group", "train", "--", "train.py")
    assert {outcome.code for outcome in outcomes.values()} == {1}
    first = "exception | host algo-3 rank 1 (local rank 0) | exit code 1 | ValueError: loss is NaN"
    assert {str(outcome.failure).splitlines()[0] for outcome in outcomes.values()} == {first}
    assert "takes no part; waits for algo-2, algo-3" in outcomes["algo-1"].text


def test_a_group_command_that_fails_ends_the_job(mixed: LauncherJob) -> None:
    mixed.source(train__py="import time; time.sleep(100)")
    outcomes = mixed.run("processes", "--group-command", command("serve.py", "broken"), "--", "train.py")
    assert {outcome.code for outcome in outcomes.values()} == {1}
    first = "exception | host algo-1 | exit code 1 | group data: OSError: the corpus is not there"
    assert {str(outcome.failure).splitlines()[0] for outcome in outcomes.values()} == {first}


def test_a_stop_lets_the_ranks_save_while_the_other_group_serves(mixed: LauncherJob) -> None:
    mixed.start("processes", "--group-command", command("serve.py"), "--", "train.py", "stop")
    mixed.until_said("training", "algo-2", "algo-3")
    mixed.hosts.signal("algo-1", signal.SIGTERM)
    outcomes = mixed.wait()
    assert {outcome.code for outcome in outcomes.values()} == {0}, outcomes
    for host in ("algo-2", "algo-3"):
        assert "saved with sample" in outcomes[host].lines_of(r"rank \d")
    assert "told to end after [0, 1, 10, 11] [] []" in outcomes["algo-1"].lines_of("group data")


def test_a_missing_group_script_is_named(mixed: LauncherJob) -> None:
    outcomes = mixed.run("processes", "--group-command", command("preprocess.py"), "--", "train.py")
    assert {outcome.code for outcome in outcomes.values()} == {2}
    assert "host algo-1 | exit code 2 | entry script preprocess.py is not in" in str(outcomes["algo-3"].failure)
