"""Seconds from a rank's exception until all hosts have ended.

The toolkit's MPI is not among them: there the other host waits 150 s for a file that a failed job never writes.
"""

from __future__ import annotations

from benchmarks.launcher_hosts import Way, launcher, launcher_hosts, torchrun
from benchmarks.row import Row, row_of
from benchmarks.sagemaker_toolkit import toolkit_torchrun

ROUNDS = 3
COMPUTING = 12
"""Seconds in which the other ranks ask nothing of the broken one."""
FAULT = """
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
dist.all_reduce(torch.ones(1))
if dist.get_rank() == 3:
    mark("raised")
    raise ValueError("the loss is not a number")
{others}
dist.all_reduce(torch.ones(1))
"""
CASES = {
    "others wait in a collective": ("", ROUNDS),
    f"others compute for {COMPUTING} s": (f"time.sleep({COMPUTING})", 1),
}


def rows() -> list[Row]:
    """A row for each case and peer."""
    peers = {"torchrun by hand": torchrun(), "sagemaker-training 5.1.4, torch_distributed": toolkit_torchrun()}
    ways: dict[str, Way] = {"ours": launcher("torchrun"), **peers}
    rows = []
    with launcher_hosts() as hosts:
        for case, (others, rounds) in CASES.items():
            seconds: dict[str, list[float]] = {name: [] for name in ways}
            for _ in range(rounds):
                for name, way in ways.items():
                    finish = hosts.run(way, FAULT.format(others=others))
                    seconds[name].append(finish.ended - finish.marks["raised"][3])
            rows += [
                row_of(
                    f"rank 3 raises to all hosts ended, torchrun, 4 ranks on 2 hosts: {case}",
                    seconds["ours"],
                    seconds[peer],
                    against=peer,
                    unit="s",
                    bar=1.0,
                )
                for peer in peers
            ]
    return rows
