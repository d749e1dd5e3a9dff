"""A training of one host that does next to nothing: writes its number, fails, or waits."""

import argparse
import os
import time
from pathlib import Path

arguments = argparse.ArgumentParser()
arguments.add_argument("--number", default="")
arguments.add_argument("--mode", default="write")
options = arguments.parse_args()

print(f"number {options.number}", flush=True)
if options.mode == "broken":
    raise RuntimeError("loss is NaN")
if options.mode == "unlucky":
    raise RuntimeError("out of luck")
while options.mode == "wait":
    time.sleep(0.1)
(Path(os.environ["SM_MODEL_DIR"]) / "number").write_text(options.number)
