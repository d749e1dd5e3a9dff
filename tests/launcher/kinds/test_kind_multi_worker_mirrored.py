"""TensorFlow's mirrored workers, with a script that meets by TF_CONFIG."""

import json
from collections.abc import Callable

from kind_situation import launch_of
from launcher_job import LauncherJob

# every worker tells its number to all others, as an all-gather does
GATHER = """
import json, os, socket, time
config = json.loads(os.environ["TF_CONFIG"])
places, own = config["cluster"]["worker"], config["task"]["index"]
assert config["task"]["type"] == "worker"
host, port = places[own].rsplit(":", 1)
server = socket.create_server((host, int(port)))
for number, place in enumerate(places):
    if number == own:
        continue
    host, port = place.rsplit(":", 1)
    for _ in range(200):
        try:
            with socket.create_connection((host, int(port)), 5) as peer:
                peer.sendall(b"%d" % own)
            break
        except ConnectionRefusedError:
            time.sleep(0.05)
heard = sorted(int(server.accept()[0].recv(10)) for _ in places[1:])
print("worker", own, "heard", heard)
"""


def test_three_workers_meet(make_job: Callable[[int], LauncherJob]) -> None:
    job = make_job(3)
    job.source(train__py=GATHER)
    outcomes = job.run("multi-worker-mirrored", "--", "train.py")
    assert {outcome.code for outcome in outcomes.values()} == {0}, outcomes
    for number, (host, heard) in enumerate(zip(job.names, ("[1, 2]", "[0, 2]", "[0, 1]"), strict=True)):
        assert outcomes[host].lines_of(f"rank {number}") == [f"worker {number} heard {heard}"]


def test_tf_config() -> None:
    launch = launch_of("multi-worker-mirrored", "--", "train.py", host="algo-2", hosts=2)
    (command,) = launch.commands
    assert json.loads(command.environment["TF_CONFIG"]) == {
        "cluster": {"worker": ["algo-1:8890", "algo-2:8890"]},
        "environment": "cloud",
        "task": {"type": "worker", "index": 1},
    }
    assert launch.ports == (8890,)
    assert (command.rank, command.argv) == (1, ("python3", "-u", "train.py"))


def test_one_worker_is_a_cluster_too() -> None:
    (command,) = launch_of("multi-worker-mirrored", "--master-port", "9000", "--", "train.py", hosts=1).commands
    assert json.loads(command.environment["TF_CONFIG"])["cluster"] == {"worker": ["algo-1:9000"]}
