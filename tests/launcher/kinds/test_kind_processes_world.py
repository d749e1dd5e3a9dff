"""Ranks that the launcher starts itself meet by the env:// variables alone."""

from kind_situation import CPU, TRN1, launch_of
from launcher_job import LauncherJob

MEET = """
import os, socket, time
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
place = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
if rank == 0:
    server = socket.create_server(place)
    came = sorted(int(server.accept()[0].recv(10)) for _ in range(size - 1))
    print("world of", [0, *came], os.environ["LOCAL_WORLD_SIZE"], os.environ["GROUP_WORLD_SIZE"])
else:
    for _ in range(200):
        try:
            with socket.create_connection(place, 5) as peer:
                peer.sendall(b"%d" % rank)
            break
        except ConnectionRefusedError:
            time.sleep(0.05)
"""


def test_ranks_of_two_hosts_meet(job: LauncherJob) -> None:
    job.source(train__py=MEET)
    outcomes = job.run("processes", "--nproc-per-node", "3", "--master-port", "7000", "--", "train.py")
    assert [outcome.code for outcome in outcomes.values()] == [0, 0], outcomes
    assert outcomes["algo-1"].lines_of("rank 0") == ["world of [0, 1, 2, 3, 4, 5] 3 2"]


def test_neuron_learns_that_a_process_is_of_a_world() -> None:
    """torch_neuronx derives its own variables only where torchrun's run id is."""
    launch = launch_of("processes", "--", "train.py", devices=TRN1, host="algo-2")
    assert launch.environment == {"TORCHELASTIC_RUN_ID": "job-1"}
    assert [command.environment["RANK"] for command in launch.commands] == [str(rank) for rank in range(32, 64)]
    assert launch_of("processes", "--", "train.py", devices=CPU).environment == {}
