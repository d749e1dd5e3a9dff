"""Seconds of a training step with each communication hook, against DistributedDataParallel's own flat all-reduce.

Four ranks on two hosts of this machine, joined by links of 200 Mbit/s. Every round does one step with each hook, in
turn, so that whatever else the machine does falls on all of them.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.row import Row

ROOT = Path(__file__).parents[1]
HOSTS = ("algo-1", "algo-2")
RANKS_PER_HOST = 2
ROUNDS = 3
WIDTH, LAYERS = 2048, 4  # 64 MiB of gradients
WISHES = {
    "flat": {"hierarchical": False},
    "hierarchical": {"hierarchical": True},
    "hierarchical, fp16 between hosts": {"hierarchical": True, "compression": "fp16"},
}
BARS = {"hierarchical": 0.75, "hierarchical, fp16 between hosts": 0.5}


def rows() -> list[Row]:
    """One row for each hierarchical hook."""
    seconds = _measure()
    return [
        Row(
            what=f"training step, 64 MiB of gradients, 200 Mbit/s: {name}",
            unit="s",
            ours=statistics.median(seconds[name]),
            other=statistics.median(seconds["flat"]),
            ratio=statistics.median(ours / other for ours, other in zip(seconds[name], seconds["flat"], strict=True)),
            bar=bar,
            against="flat all-reduce",
        )
        for name, bar in BARS.items()
    ]


def _measure() -> dict[str, list[float]]:
    """Seconds of every round for each hook, as the first rank saw them."""
    from cdk_distributed_training.local.hosts import NamespaceHosts  # noqa: PLC0415  the ranks run without it

    environment = {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": f"{ROOT}:{ROOT / 'container' / 'src'}",
        "GLOO_SOCKET_IFNAME": "eth0",
        "MASTER_ADDR": HOSTS[0],
        "MASTER_PORT": "29500",
        "WORLD_SIZE": str(len(HOSTS) * RANKS_PER_HOST),
        "LOCAL_WORLD_SIZE": str(RANKS_PER_HOST),
        "OMP_NUM_THREADS": "1",
    }
    with tempfile.TemporaryDirectory() as folder, NamespaceHosts(HOSTS, Path(folder), "bench-hook") as hosts:
        for host in HOSTS:
            hosts.shape(host, "200mbit")
        processes = [
            hosts.start(
                host,
                [sys.executable, __file__],
                {**environment, "FIRST_RANK": str(index * RANKS_PER_HOST)},
            )
            for index, host in enumerate(HOSTS)
        ]
        output = [process.communicate(timeout=300)[0].decode() for process in processes]
        if any(process.returncode for process in processes):
            raise RuntimeError("\n".join(output))
        seconds: dict[str, list[float]] = json.loads((hosts.opt_ml(HOSTS[0]) / "model" / "seconds.json").read_text())
    return seconds


def _start_ranks() -> int:
    first = int(os.environ["FIRST_RANK"])
    ranks = [
        subprocess.Popen(
            [sys.executable, __file__], env={**os.environ, "RANK": str(first + local), "LOCAL_RANK": str(local)}
        )
        for local in range(RANKS_PER_HOST)
    ]
    return max(abs(rank.wait()) for rank in ranks)


def _run_rank() -> int:
    import torch  # noqa: PLC0415  in the ranks only
    import torch.distributed as dist  # noqa: PLC0415
    from torch.nn.parallel import DistributedDataParallel  # noqa: PLC0415

    from training_launcher.torch import (  # noqa: PLC0415
        communication_hook,
        destroy_process_group,
        init_process_group,
    )

    torch.set_num_threads(1)
    init_process_group()
    models = {}
    for name, wish in WISHES.items():
        torch.manual_seed(0)
        layers = (torch.nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(LAYERS))
        models[name] = DistributedDataParallel(torch.nn.Sequential(*layers))
        communication_hook(models[name], **wish)
    seconds: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(1 + ROUNDS):
        for name, model in models.items():
            optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
            inputs = torch.randn(4, WIDTH)
            dist.barrier()
            start = time.perf_counter()
            optimizer.zero_grad()
            (model(inputs) - 1).pow(2).mean().backward()
            optimizer.step()
            dist.barrier()
            seconds[name].append(time.perf_counter() - start)
    if dist.get_rank() == 0:
        warm = {name: values[1:] for name, values in seconds.items()}
        Path("/opt/ml/model/seconds.json").write_text(json.dumps(warm))
    dist.barrier()
    destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(_run_rank() if "RANK" in os.environ else _start_ranks())
