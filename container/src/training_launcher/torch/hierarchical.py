"""All-reduce in three stages, for gloo: inside each host, between the hosts' first ranks, inside each host again.

A bucket of gradients goes through in chunks, so that the links between the hosts are busy while the next chunk is
summed inside the host, and while the backward pass goes on. Each stage has a process group of its own: gloo matches
operations by their order in a group, and the stages of different chunks overlap.
"""
# No `from __future__ import annotations` here: DistributedDataParallel compares a hook's annotations with classes.

import logging
import queue
import threading
from datetime import timedelta
from typing import Any, Callable, List, Optional, Sequence

import torch
import torch.distributed as dist

CHUNK_BYTES = 4 << 20
"""Default size of a chunk: long against the latency of a link, short against a bucket of gradients (25 MiB)."""

logger = logging.getLogger(__name__)


class HierarchicalAllReduce:
    """The state of `hierarchical_hook`: process groups and the two threads that move chunks from stage to stage.

    Args:
        hosts: Ranks of each host, together all ranks of the world; every one of them makes this object, with the same.
        wire_dtype: Type in which gradients travel between hosts and back; None keeps their own. Gradients whose own
            type is no wider keep theirs.
        chunk_bytes: Size of a chunk, before any conversion.
        timeout: How long a stage may wait for the slowest rank.
    """

    def __init__(
        self,
        hosts: Sequence[Sequence[int]],
        *,
        wire_dtype: Optional[torch.dtype],
        chunk_bytes: int = CHUNK_BYTES,
        timeout: timedelta,
    ) -> None:
        """Connect the groups and start the threads."""
        rank = dist.get_rank()
        self.leader = next(ranks[0] for ranks in hosts if rank in ranks)
        self.leads = rank == self.leader
        self.world_size = sum(len(ranks) for ranks in hosts)
        self.wire_dtype = wire_dtype
        self.chunk_bytes = chunk_bytes
        # Every rank makes every group, in the same order, as torch wants it: with use_local_synchronization the name of
        # a group depends on how many its maker has made before, and the hosts' first ranks make one more than others.
        groups = [[list(ranks) for ranks in hosts], [list(ranks) for ranks in hosts], [[ranks[0] for ranks in hosts]]]
        self.sum_group, self.share_group, self.leaders_group = (
            dist.new_subgroups_by_enumeration(ranks, timeout=timeout, backend="gloo")[0]  # type: ignore[no-untyped-call]
            for ranks in groups
        )
        self._summed = _Stage("between-hosts", self._between_hosts)
        self._exchanged = _Stage("inside-host", self._inside_host)

    def start(self, buffer: torch.Tensor) -> "torch.futures.Future[torch.Tensor]":
        """Begin to average a flat CPU tensor over all ranks, in place; called in the same order everywhere."""
        average = _Average(buffer)
        length = max(1, self.chunk_bytes // buffer.element_size())
        # the list is complete before the first chunk is on its way, since the last one to arrive ends the average
        average.chunks = [_Chunk(average, values) for values in torch.split(buffer, length)]
        for chunk in average.chunks:
            chunk.work = dist.reduce(chunk.values, self.leader, group=self.sum_group, async_op=True)
            self._summed.put(chunk)
        return average.result

    def _between_hosts(self, chunk: "_Chunk") -> None:
        """Wait until the host's sum is there; as the host's first rank, send it on its way to the other hosts."""
        chunk.wait()
        wide = chunk.values.element_size() if chunk.values.is_floating_point() else 0
        narrower = self.wire_dtype is not None and self.wire_dtype.itemsize < wide
        if self.leads:
            # divided before it is made narrow, so that the sum of all ranks does not overflow
            chunk.values.div_(self.world_size)
            chunk.wire = chunk.values.to(self.wire_dtype) if narrower else chunk.values
            chunk.work = dist.all_reduce(chunk.wire, group=self.leaders_group, async_op=True)
        else:
            chunk.wire = torch.empty_like(chunk.values, dtype=self.wire_dtype) if narrower else chunk.values
        self._exchanged.put(chunk)

    def _inside_host(self, chunk: "_Chunk") -> None:
        """Hand the average out inside the host."""
        chunk.wait()
        dist.broadcast(chunk.wire, self.leader, group=self.share_group)
        if chunk.wire is not chunk.values:
            chunk.values.copy_(chunk.wire)
        chunk.average.arrived()


class _Average:
    """One bucket on its way."""

    def __init__(self, buffer: torch.Tensor) -> None:
        self.buffer = buffer
        self.chunks: List[_Chunk] = []
        self.error: Optional[BaseException] = None
        self._arrived = 0
        self._done: torch.futures.Future[torch.Tensor] = torch.futures.Future()
        # An error set on a Python future is lost on torch's side; one that is raised in a callback is not.
        self.result: torch.futures.Future[torch.Tensor] = self._done.then(lambda done: self._outcome())

    def arrived(self) -> None:
        self._arrived += 1
        if self._arrived == len(self.chunks):
            self._done.set_result(self.buffer)

    def fail(self, error: BaseException) -> None:
        if self.error is None:
            self.error = error
            self._done.set_result(self.buffer)

    def _outcome(self) -> torch.Tensor:
        if self.error is not None:
            raise self.error
        return self.buffer


class _Chunk:
    """A piece of a bucket and what is being done with it."""

    def __init__(self, average: _Average, values: torch.Tensor) -> None:
        self.average = average
        self.values = values
        self.wire = values
        self.work: Optional[Any] = None

    def wait(self) -> None:
        work, self.work = self.work, None
        if work is not None:
            work.wait()


class _Stage:
    """A thread that does one thing to each chunk in the order in which they come."""

    def __init__(self, name: str, action: Callable[[_Chunk], None]) -> None:
        self._chunks: queue.SimpleQueue[_Chunk] = queue.SimpleQueue()
        self._action = action
        # a daemon, so that a rank which fails elsewhere does not wait here for its peers before it may end
        threading.Thread(target=self._run, name=f"all-reduce-{name}", daemon=True).start()

    def put(self, chunk: _Chunk) -> None:
        self._chunks.put(chunk)

    def _run(self) -> None:
        while True:
            chunk = self._chunks.get()
            try:
                self._action(chunk)
            except Exception as error:
                logger.exception("hierarchical all-reduce failed")
                chunk.average.fail(error)


def hierarchical_hook(
    state: HierarchicalAllReduce,
    bucket: dist.GradBucket,  # type: ignore[name-defined]  # torch defines it at run time
) -> torch.futures.Future[torch.Tensor]:
    """Communication hook of DistributedDataParallel that averages a bucket of gradients in three stages."""
    return state.start(bucket.buffer())
