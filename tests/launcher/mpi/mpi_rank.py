"""An MPI program: adds up the ranks over all hosts, then does what its argument says."""

import os
import signal
import sys
import time

from mpi4py import MPI

world = MPI.COMM_WORLD
print("sum", world.allreduce(world.rank + 1), "of", world.size, flush=True)
if sys.argv[1:] == ["raise"]:
    if world.rank == 1:
        raise ArithmeticError("no such number")
    world.Barrier()  # would wait for ever
if sys.argv[1:] == ["kill"]:
    if world.rank == 3:
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGKILL)
    world.recv(source=3)
