"""A throwaway rank that tries the collectives: ``python3 -m training_launcher.preflight.all_reduce``.

It runs with a rank's environment and the image's torch, and tells how far it came in lines that begin with `MARK`. The
launcher reads them, and kills it when it takes too long.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

MARK = "@preflight "
STAGES = ("nothing", "started", "joined", "heard", "summed", "measured")
"""What a rank has done, in order: imported torch; met the others at the store; got a message from the rank before it;
added up a one of every rank; timed larger sums."""

_BYTES = {"cuda": 256 << 20}
_BYTES_ELSEWHERE = 1 << 20
_REPEATS = 5


def main() -> None:
    """Go through the stages; what goes wrong is an exception like in any script."""
    import datetime  # noqa: PLC0415  so that the launcher, which reads the constants above, need not pay for it

    import torch  # noqa: PLC0415
    import torch.distributed as dist  # noqa: PLC0415

    from training_launcher.torch.backends import Facts, choose_backend, installed_packages  # noqa: PLC0415
    from training_launcher.torch.devices import bind_device  # noqa: PLC0415
    from training_launcher.torch.process_group import prove_process_group  # noqa: PLC0415

    tell("started")
    choice = choose_backend(Facts(os.environ, torch.cuda.device_count(), installed_packages()))
    for module in choice.backend.modules:
        __import__(module)
    device = bind_device(choice.backend.device_type, os.environ)
    timeout = datetime.timedelta(seconds=float(os.environ["TRAINING_PREFLIGHT_SECONDS"]))
    bound = device if choice.backend.name == "nccl" else None
    dist.init_process_group(choice.specification, timeout=timeout, device_id=bound)
    tell("joined")
    if choice.backend.name in ("gloo", "nccl"):  # the others send nothing from one rank to another
        exchange(torch, dist, device)
        tell("heard")
    prove_process_group(device, os.environ)
    tell("summed")
    size = _BYTES.get(device.type, _BYTES_ELSEWHERE)
    tell("measured", seconds=measure(torch, dist, device, size), bytes=size)
    sys.stdout.flush()
    os._exit(0)  # taking the group apart could hang, and proves nothing


def exchange(torch: Any, dist: Any, device: Any) -> None:
    """Send to the next rank and hear of the one before, so that a path that fails is known by its two ends."""
    rank, size = dist.get_rank(), dist.get_world_size()
    if size == 1:
        return
    sent, received = torch.full((1,), float(rank), device=device), torch.empty(1, device=device)
    before = (rank - 1) % size
    operations = [
        dist.P2POp(dist.isend, sent, (rank + 1) % size),
        dist.P2POp(dist.irecv, received, before),
    ]
    for work in dist.batch_isend_irecv(operations):
        work.wait()
    value = received.item()
    if value != before:
        raise RuntimeError(f"rank {rank} heard {value:g} from rank {before}")


def measure(torch: Any, dist: Any, device: Any, size: int) -> float:
    """Seconds of one all-reduce, the quickest of some."""
    data = torch.zeros(size // 4, device=device)
    best = float("inf")
    for _ in range(_REPEATS):
        dist.all_reduce(data[:1])  # all begin together
        _synchronize(torch, device)
        began = time.monotonic()
        dist.all_reduce(data)
        _synchronize(torch, device)
        best = min(best, time.monotonic() - began)
    return best


def _synchronize(torch: Any, device: Any) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def tell(stage: str, **content: Any) -> None:
    """A line for the launcher, in one piece whatever else is printed."""
    sys.stdout.flush()
    os.write(1, f"\n{MARK}{json.dumps({'stage': stage, **content})}\n".encode())


if __name__ == "__main__":
    main()
