"""A script that has done its work ends well, also when one of gloo's threads is late."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[3] / "container" / "src"

LATE_WORKER = """
import os, socket, sys, time
import torch, torch.distributed as dist
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
told, tell = os.pipe()
rank = 0 if os.fork() else 1
os.environ.update(RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
dist.init_process_group("gloo")
if rank:
    os.read(told, 1)
    dist.all_reduce(torch.ones(1))
    os._exit(0)
kept = dist.group.WORLD  # as a DistributedDataParallel model does
future = dist.all_reduce(torch.ones(1), async_op=True).get_future()
future.then(lambda done: time.sleep(2))  # the worker has told of the sum, and is late then, as on a busy machine
os.write(tell, b"1")
future.wait()
class Slow:
    def __del__(self, sleep=time.sleep):
        sleep(4)  # Python is on its way down for long enough
sys.modules["slow"] = Slow()  # not in the script's own names, which the waiting callback keeps
ENDING
"""
OURS = "from training_launcher.torch import destroy_process_group; destroy_process_group()"
ENDINGS = {OURS: 0}
if sys.version_info < (3, 14):  # which lets such threads hang instead
    ENDINGS["dist.destroy_process_group()"] = -signal.SIGABRT


@pytest.mark.timeout(200)
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_late_gloo_thread(ending):
    """With torch's own function the script is aborted, which is what the helper is for."""
    result = subprocess.run(
        [sys.executable, "-c", LATE_WORKER.replace("ENDING", ending)],
        env={"PYTHONPATH": str(SOURCES)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == ENDINGS[ending], result.stderr


def test_without_a_group():
    """Nothing to destroy, nothing to wait for."""
    result = subprocess.run(
        [sys.executable, "-c", f"{OURS}; print('on')"],
        env={"PYTHONPATH": str(SOURCES)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stdout) == (0, "on\n"), result.stderr
