"""One of four ranks on two hosts; it writes what it saw to /opt/ml/model/rank-<N>.json."""

import hashlib
import json
import os
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from training_launcher.torch import communication_hook, destroy_process_group, init_process_group
from training_launcher.torch.hierarchical import HierarchicalAllReduce, hierarchical_hook
from training_launcher.torch.process_group import prove_process_group

RANKS_PER_HOST = 2
HEADERS = 14 + 20 + 32  # Ethernet, IPv4, TCP with timestamps


def transmitted_bytes():
    """Payload that this host has put on its link; headers depend on how the kernel cuts it into packets, so on load."""
    line = next(row for row in Path("/proc/net/dev").read_text().splitlines() if row.strip().startswith("eth0:"))
    sent, packets = line.split(":")[1].split()[8:10]
    return int(sent) - HEADERS * int(packets)


def model(width, layers):
    torch.manual_seed(0)
    return torch.nn.Sequential(*(torch.nn.Linear(width, width, bias=False) for _ in range(layers)))


def train(ddp, width):
    """Two steps; the second one's bytes on the wire, a digest of the parameters, and the parameters."""
    optimizer = torch.optim.SGD(ddp.parameters(), lr=1.0)
    data = torch.Generator().manual_seed(1 + dist.get_rank())
    for _ in range(2):
        inputs = torch.randn(4, width, generator=data)
        dist.barrier()
        before = transmitted_bytes()
        optimizer.zero_grad()
        (ddp(inputs) - 1).pow(2).mean().backward()
        optimizer.step()
        dist.barrier()
        sent = transmitted_bytes() - before
    parameters = torch.cat([parameter.detach().flatten() for parameter in ddp.parameters()])
    return sent, hashlib.sha256(parameters.numpy().tobytes()).hexdigest(), parameters


def refused(action):
    try:
        action()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "not refused"


def hooks(results):
    """Gradients of 16 MiB in four ranks, with each hook."""
    plain = None
    for name, wish in {
        "flat": {"hierarchical": False},
        "fp16": {"hierarchical": False, "compression": "fp16"},
        "hierarchical": {},
        "hierarchical-fp16": {"hierarchical": True, "compression": "fp16"},
    }.items():
        ddp = DistributedDataParallel(model(1024, 4))
        choice = communication_hook(ddp, **wish)
        sent, digest, parameters = train(ddp, 1024)
        plain = parameters if plain is None else plain
        results[name] = {
            "hierarchical": choice.hierarchical,
            "reason": choice.reason,
            "bytes": sent,
            "digest": digest,
            "difference": ((parameters - plain).abs().max() / plain.abs().max()).item(),
        }


def part_of_the_ranks(results):
    """Each host alone."""
    own_host = dist.new_subgroups(RANKS_PER_HOST)[0]
    ddp = DistributedDataParallel(model(64, 2), process_group=own_host)
    choice = communication_hook(ddp, hierarchical=True)
    results["own-host"] = {"hierarchical": choice.hierarchical, "reason": choice.reason}


def uneven_world(results):
    """A world of three: two ranks on the first host, one on the second."""
    _, _, plain = train(DistributedDataParallel(model(64, 2)), 64)
    ddp = DistributedDataParallel(model(64, 2))
    choice = communication_hook(ddp, chunk_bytes=1000)
    _, digest, parameters = train(ddp, 64)
    difference = ((parameters - plain).abs().max() / plain.abs().max()).item()
    results["uneven"] = {
        "hierarchical": choice.hierarchical,
        "reason": choice.reason,
        "digest": digest,
        "difference": difference,
    }


def failing_stage():
    """What backward() says when the thread between the hosts fails."""
    state = HierarchicalAllReduce([[0, 1], [2, 3]], wire_dtype=None, timeout=timedelta(seconds=30))
    state.world_size = "broken"
    state.leads = True
    ddp = DistributedDataParallel(model(64, 1))
    ddp.register_comm_hook(state, hierarchical_hook)
    return refused(lambda: train(ddp, 64))


def main():
    torch.set_num_threads(1)
    rank = int(os.environ["RANK"])
    results = {}
    port = os.environ["MASTER_PORT"]
    os.environ["MASTER_PORT"] = str(int(port) + 1)
    results["silent-backend"] = refused(lambda: init_process_group("xla"))
    results["group-after-refusal"] = dist.is_initialized()
    os.environ["MASTER_PORT"] = port
    results["device"] = str(init_process_group())
    results["backend"] = dist.get_backend()
    results["second-group"] = refused(init_process_group)
    too_large = {**os.environ, "WORLD_SIZE": "8"}
    results["too-small"] = refused(lambda: prove_process_group(torch.device("cpu"), too_large))
    hooks(results)
    part_of_the_ranks(results)
    small = DistributedDataParallel(model(64, 1))
    for compression in ("bf16", "powersgd"):
        results[f"refused-{compression}"] = refused(lambda: communication_hook(small, compression=compression))  # noqa: B023
    results["failing-stage"] = failing_stage()
    dist.barrier()
    destroy_process_group()
    if rank < 3:
        os.environ.update(MASTER_PORT=str(int(port) + 2), WORLD_SIZE="3")
        init_process_group("gloo")
        uneven_world(results)
        dist.barrier()
        destroy_process_group()
    Path(f"/opt/ml/model/rank-{rank}.json").write_text(json.dumps(results))


if __name__ == "__main__":
    main()
