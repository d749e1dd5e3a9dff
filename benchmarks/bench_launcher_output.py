"""Seconds that a rank needs to print 24 MB, since it waits where the launcher reads slowly."""

from __future__ import annotations

from benchmarks.launcher_hosts import SCRIPT, Way, launcher, launcher_hosts
from benchmarks.row import Row, row_of
from benchmarks.sagemaker_toolkit import toolkit_torchrun

ROUNDS = 3
MEGABYTES = 24
LEAST = 100
"""Megabytes a second that the launcher must pass on."""
PRINT = f"""
line = b"epoch 3 step 01234 of 99999, loss 0.123456789, learning rate 0.000300, 12345.6 tokens a second on 8 x\\n"
block = line * (1_000_000 // len(line))
mark("begin")
for _ in range({MEGABYTES}):
    left = memoryview(block)
    while left:
        left = left[os.write(1, left):]
mark("end")
"""


def rows() -> list[Row]:
    """Against the toolkit, against `cat`, and against what is asked for."""
    ways = {
        "ours": launcher("torchrun", processes=1),
        "toolkit": toolkit_torchrun(processes=1),
        "cat": Way(argv=lambda _: ("/bin/sh", "-c", f"python3 {SCRIPT} | cat"), environment={"RANK": "0"}),
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    with launcher_hosts(1) as hosts:
        for number in range(1 + ROUNDS):
            for name, way in ways.items():
                marks = hosts.run(way, PRINT).marks
                if number:
                    seconds[name].append(marks["end"][0] - marks["begin"][0])
    what = f"a rank prints {MEGABYTES} MB in lines of 100 bytes"
    # what else the machine does only ever takes time away
    best = [min(seconds["ours"])]
    return [
        row_of(what, seconds["ours"], seconds["toolkit"], against="sagemaker-training 5.1.4", unit="s", bar=1.0),
        row_of(f"{what}: the best", best, [MEGABYTES / LEAST], against=f"{LEAST} MB/s", unit="s", bar=1.0),
        row_of(what, seconds["ours"], seconds["cat"], against="| cat", unit="s", bar=None),
    ]
