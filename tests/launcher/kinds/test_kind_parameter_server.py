"""TensorFlow's parameter servers: TF_CONFIG, and a training by sockets that reads it as TensorFlow does."""

import json
import signal
from collections.abc import Callable
from typing import Any

import pytest
from kind_situation import launch_of
from launcher_job import LauncherJob

# the servers keep numbers; workers and chief add to them; the chief waits for the sum and ends the job
TRAIN = """
import json, os, socket, socketserver, sys, time
config = json.loads(os.environ["TF_CONFIG"])
cluster, kind, index = config["cluster"], config["task"]["type"], config["task"]["index"]
how = sys.argv[1] if len(sys.argv) > 1 else ""

def ask(place, word):
    host, port = place.rsplit(":", 1)
    for _ in range(200):
        try:
            with socket.create_connection((host, int(port)), 5) as peer:
                peer.sendall(word.encode() + b"\\n")
                return int(peer.makefile().readline())
        except ConnectionRefusedError:
            time.sleep(0.05)
    raise TimeoutError(place)

class Server(socketserver.TCPServer):
    allow_reuse_address = True
    total = 0

class Add(socketserver.StreamRequestHandler):
    def handle(self):
        self.server.total += int(self.rfile.readline())
        self.wfile.write(b"%d\\n" % self.server.total)

if kind == "ps":
    host, port = cluster["ps"][index].rsplit(":", 1)
    if how == "bad-server" and index == 1:
        raise RuntimeError("this server has no memory left")
    print("serving, CUDA_VISIBLE_DEVICES =", os.environ["CUDA_VISIBLE_DEVICES"], flush=True)
    Server((host, int(port)), Add).serve_forever()
number = index if kind == "chief" else index + 1
for place in cluster["ps"]:
    ask(place, str(10 ** number))
print("added", 10 ** number, flush=True)
if kind == "worker":
    if how == "bad-worker" and index == 1:
        raise ValueError("the worker's loss is NaN")
    time.sleep(1000)  # as a TensorFlow worker serves until it is ended
if how in ("stop", "bad-worker", "bad-server"):
    if how == "stop":
        import signal
        signal.signal(signal.SIGTERM, lambda *_: (print("sum", ask(cluster["ps"][0], "0"), flush=True), sys.exit(0)))
    print("training", flush=True)
    time.sleep(1000)
while any(ask(place, "0") != 111 for place in cluster["ps"]):
    time.sleep(0.05)
print("sum is 111 on all servers", flush=True)
"""

KIND = ("parameter-server", "--", "train.py")


def run(job: LauncherJob, *words: str) -> dict[str, Any]:
    job.source(train__py=TRAIN)
    return job.run(*KIND, *words)


def nothing_is_left(job: LauncherJob) -> None:
    for host in job.names:
        assert not list((job.hosts.root / host / "tmp").glob("training-launcher-*"))


def test_three_hosts_train_and_the_servers_end_with_the_chief(make_job: Callable[[int], LauncherJob]) -> None:
    job = make_job(3)
    outcomes = run(job)
    assert {outcome.code for outcome in outcomes.values()} == {0}, outcomes
    assert outcomes["algo-1"].lines_of("rank 0") == ["added 1", "sum is 111 on all servers"]
    for number, host in enumerate(job.names):
        assert outcomes[host].lines_of(f"ps {number}") == ["serving, CUDA_VISIBLE_DEVICES = -1"]
        assert outcomes[host].failure is None
    assert outcomes["algo-2"].lines_of("worker 0") == ["added 10"]
    assert outcomes["algo-3"].lines_of("worker 1") == ["added 100"]
    nothing_is_left(job)


@pytest.mark.parametrize(
    ("how", "first_line"),
    [
        ("bad-worker", "exception | host algo-3 | exit code 1 | worker 1: ValueError: the worker's loss is NaN"),
        ("bad-server", "exception | host algo-2 | exit code 1 | ps 1: RuntimeError: this server has no memory left"),
    ],
)
def test_a_worker_or_server_that_fails_ends_all(
    make_job: Callable[[int], LauncherJob], how: str, first_line: str
) -> None:
    job = make_job(3)
    outcomes = run(job, how)
    assert {outcome.code for outcome in outcomes.values()} == {1}, outcomes
    assert {str(outcome.failure).splitlines()[0] for outcome in outcomes.values()} == {first_line}
    nothing_is_left(job)


def test_servers_serve_until_the_chief_has_saved(make_job: Callable[[int], LauncherJob]) -> None:
    """A stop must not take away what is to be saved."""
    job = make_job(3)
    job.source(train__py=TRAIN)
    job.start(*KIND, "stop")
    job.until(
        lambda: "training" in job.output("algo-1") and all("added" in job.output(host) for host in job.names),
    )
    job.hosts.signal("algo-3", signal.SIGTERM)
    outcomes = job.wait()
    assert {outcome.code for outcome in outcomes.values()} == {0}, outcomes
    assert "sum 111" in outcomes["algo-1"].lines_of("rank 0")


def test_tensorflows_own_servers(make_job: Callable[[int], LauncherJob]) -> None:
    """As the SageMaker toolkit runs them; with a stand-in for TensorFlow that says what it was asked for."""
    job = make_job(2)
    job.source(
        train__py="import json, os, time; print(json.loads(os.environ['TF_CONFIG'])['task']); time.sleep(2)",
        tensorflow__py="""
import time
class train:
    ClusterSpec = dict
class distribute:
    class Server:
        def __init__(self, cluster, job_name, task_index):
            print(cluster["ps"], job_name, task_index, flush=True)
        def join(self):
            time.sleep(1000)
""",
    )
    outcomes = job.run("parameter-server", "--servers", "tensorflow", "--chief-task", "master", "--", "train.py")
    assert [outcome.code for outcome in outcomes.values()] == [0, 0], outcomes
    assert outcomes["algo-1"].lines_of("rank 0") == ["{'type': 'master', 'index': 0}"]
    assert outcomes["algo-2"].lines_of("worker 0") == ["{'type': 'worker', 'index': 0}"]
    assert outcomes["algo-2"].lines_of("ps 1") == ["['algo-1:2223', 'algo-2:2223'] ps 1"]


def config_of(launch: Any, name: str) -> Any:
    (text,) = [command.environment["TF_CONFIG"] for command in launch.commands if command.name == name]
    return json.loads(text)


def test_tf_config_of_every_task() -> None:
    cluster = {
        "chief": ["algo-1:2222"],
        "worker": ["algo-2:2222", "algo-3:2222"],
        "ps": ["algo-1:2223", "algo-2:2223", "algo-3:2223"],
    }
    for host, names in (
        ("algo-1", ("ps 0", "chief")),
        ("algo-2", ("ps 1", "worker 0")),
        ("algo-3", ("ps 2", "worker 1")),
    ):
        launch = launch_of(*KIND, host=host, hosts=3)
        assert tuple(command.name for command in launch.commands) == names
        assert launch.ports == (2222, 2223)
        for name in names:
            kind, _, index = name.partition(" ")
            assert config_of(launch, name) == {
                "cluster": cluster,
                "environment": "cloud",
                "task": {"type": kind, "index": int(index or 0)},
            }


def test_ports_and_the_chiefs_name_can_be_chosen() -> None:
    launch = launch_of("parameter-server", "--master-port", "4000", "--chief-task", "master", "--", "train.py")
    assert config_of(launch, "master")["cluster"] == {
        "master": ["algo-1:4000"],
        "worker": ["algo-2:4000"],
        "ps": ["algo-1:4001", "algo-2:4001"],
    }


def test_hosts_that_share_an_address_have_ports_of_their_own() -> None:
    """As in a job on the loopback address."""
    addresses = {"algo-1": "127.0.0.1", "algo-2": "127.0.0.1"}
    launch = launch_of(*KIND, host="algo-2", addresses=addresses)
    assert config_of(launch, "ps 1")["cluster"] == {
        "chief": ["127.0.0.1:2222"],
        "worker": ["127.0.0.1:2224"],
        "ps": ["127.0.0.1:2223", "127.0.0.1:2225"],
    }
    assert launch.ports == (2224, 2225)


def test_a_single_host_runs_the_script_alone() -> None:
    (command,) = launch_of(*KIND, hosts=1).commands
    assert command.argv == ("python3", "-u", "train.py")
    assert "TF_CONFIG" not in command.environment
