"""A training script of the standard library only; what it does is chosen by the hyperparameter `mode`."""

import argparse
import hashlib
import json
import os
import signal
import sys
import time
from pathlib import Path

arguments = argparse.ArgumentParser()
arguments.add_argument("--mode", default="steps")
arguments.add_argument("--steps", type=int, default=3)
arguments.add_argument("--pause", type=float, default=0.02)
arguments.add_argument("--note", default="")
options = arguments.parse_args()

rank = int(os.environ["RANK"])
model = Path(os.environ["SM_MODEL_DIR"])
checkpoint = Path(os.environ.get("CHECKPOINTS", model.parent / "checkpoints")) / "state.json"
shared = [Path(os.environ[name]) for name in ("SM_CHANNEL_RESULTS", "SM_CHANNEL_HOME") if name in os.environ]
data = b"".join(path.read_bytes() for path in sorted(Path(os.environ["SM_CHANNEL_TRAIN"]).rglob("*")) if path.is_file())


def steps() -> None:
    """A chain of digests: the last one needs every step before it."""
    state = {"step": 0, "digest": hashlib.sha256(data).hexdigest()}
    if checkpoint.exists():
        state = json.loads(checkpoint.read_text())
        print(f"resumed at step {state['step']}", flush=True)
    while state["step"] < options.steps:
        digest = hashlib.sha256(f"{state['digest']} {state['step']}".encode()).hexdigest()
        state = {"step": state["step"] + 1, "digest": digest}
        if rank == 0:
            part = checkpoint.with_suffix(".part")
            part.write_text(json.dumps(state))
            part.rename(checkpoint)
            print(f"step {state['step']}", flush=True)
        time.sleep(options.pause)
    if rank == 0:
        (model / "digest").write_text(state["digest"])
        (model.parent / "output" / "data" / "note").write_text(options.note)
    for folder in shared:
        (folder / f"rank-{rank}").write_text(options.note)
        (folder / "old").unlink(missing_ok=True)


def stop(signum: int, frame: object) -> None:
    """Save on a stop."""
    (checkpoint.parent / f"stopped-{rank}").write_text("saved")
    sys.exit(0)


print(
    f"rank {rank} of {os.environ['WORLD_SIZE']} on {os.environ['SM_CURRENT_HOST']}, note {options.note!r}", flush=True
)
if options.mode == "fail" and rank == 1:
    raise RuntimeError("loss is NaN at step 7")
if options.mode in ("wait", "fail"):
    signal.signal(signal.SIGTERM, stop)
    print("waiting", flush=True)
    while True:
        time.sleep(0.1)
steps()
