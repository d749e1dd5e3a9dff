"""The training script of the fault table: `train.py FAULT RANK [--collective]`; the rank does what the fault says."""

import argparse
import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

rank = int(os.environ["RANK"])
parser = argparse.ArgumentParser()
parser.add_argument("fault")
parser.add_argument("culprit", type=int)
parser.add_argument("--collective", action="store_true")
parser.add_argument("--hf_token")
args = parser.parse_args()


def now(seconds: float = 0.3) -> None:
    """Say when; the clock is the machine's, and so the same for all hosts on it."""
    time.sleep(seconds)  # until every other rank waits
    print("working on it", flush=True)
    print(f"fault at {time.monotonic()}", flush=True)


def exception() -> None:
    try:
        {}["learning_rate"]
    except KeyError as error:
        raise RuntimeError("no learning rate for this step") from error


def out_of_memory() -> None:
    taken = []
    while len(taken) < 800:  # 3 GB; the container has less, and should it have no limit, the machine stays alive
        taken.append(bytearray(os.urandom(1 << 16) * 64))


def disk_full() -> None:
    # unbuffered, so that the very last byte is used up too
    with Path("/opt/ml/output/samples").open("wb", buffering=0) as file:
        while True:
            file.write(b"0" * (1 << 12))


def own_words() -> None:
    Path("/opt/ml/output/failure").write_text("the script's own words")
    sys.exit(4)


def wait_elsewhere() -> None:
    time.sleep(1000)


FAULTS = {
    "exception": exception,
    "exit": lambda: sys.exit(3),
    "sigkill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "sigsegv": lambda: ctypes.string_at(0),
    "sigabrt": os.abort,
    "out-of-memory": out_of_memory,
    "sigstop": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "deadlock": wait_elsewhere,
    "import-error": lambda: __import__("no_such_module"),
    "bad-argument": lambda: parser.parse_args(["exit", "0", "--learning-rte", "0.1"]),
    "disk-full": disk_full,
    "own-words": own_words,
}

if args.collective:
    # loading torch is silent, and may take longer than the hang timeout of these tests
    loading = subprocess.Popen(["/bin/sh", "-c", "while sleep 0.5; do echo loading; done"])
    import torch
    import torch.distributed as dist

    dist.init_process_group("gloo")
    everything = torch.ones(8)
    for _ in range(3):
        dist.all_reduce(everything)
    loading.kill()
    loading.wait()
print("training", flush=True)
if rank == args.culprit:
    now()
    FAULTS[args.fault]()
while True:
    if args.collective:
        dist.all_reduce(everything)
    time.sleep(0.05)
