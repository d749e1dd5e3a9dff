"""Seconds from the launcher's start to the first line of the user's script, on all four ranks of two hosts.

Each round starts every launcher once, in turn, so that whatever else the machine does falls on all of them. Those that
are compared most closely follow each other at once: a machine's speed drifts by more than their difference.
"""

from __future__ import annotations

from benchmarks.launcher_hosts import launcher, launcher_hosts, torchrun
from benchmarks.row import Row, row_of
from benchmarks.sagemaker_toolkit import mpi4py, toolkit_mpirun, toolkit_torchrun

ROUNDS = 10
TOOLKIT = "sagemaker-training 5.1.4"


def rows() -> list[Row]:
    """One row for each pair."""
    ways = {
        "torchrun": launcher("torchrun"),
        "bare": torchrun(),
        "toolkit": toolkit_torchrun(),
        "mpirun": launcher("mpirun", "--mpi4py", "always", PYTHONPATH=str(mpi4py())),
        "toolkit, mpirun": toolkit_mpirun(),
        "processes": launcher("processes"),
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    with launcher_hosts() as hosts:
        for number in range(1 + ROUNDS):
            # who comes first changes, since what follows a long one meets a warmer machine
            for name in reversed(ways) if number % 2 else ways:
                first = hosts.run(ways[name], "", until="first").marks["first"]
                if number:
                    seconds[name].append(max(first.values()))

    def row(what: str, other: str, against: str, bar: float | None) -> Row:
        text = f"start to the script's first line, 4 ranks on 2 hosts: {what}"
        return row_of(text, seconds[what], seconds[other], against=against, unit="s", bar=bar)

    return [
        row("torchrun", "bare", "torchrun by hand", 1.05),
        row("torchrun", "toolkit", f"{TOOLKIT}, torch_distributed", 1.0),
        row("mpirun", "toolkit, mpirun", f"{TOOLKIT}, mpi", 1.0),
        row("processes", "bare", "torchrun by hand", None),
    ]
