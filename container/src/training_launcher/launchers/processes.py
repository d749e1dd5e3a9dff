"""processes: the launcher starts the ranks itself, with the ``env://`` variables.

No agent between the launcher and the ranks: the script's first line runs after a tenth of a second instead of
torchrun's three, and each host keeps the 200 MB that torchrun's own import of torch takes. There are no restarts.
https://docs.pytorch.org/docs/stable/distributed.html#environment-variable-initialization
"""

from __future__ import annotations

import argparse
from typing import ClassVar

from training_launcher.launchers.base import Launch, Launcher, Situation, add_process_count, whole_number
from training_launcher.plan import Command

MASTER_PORT = 7777


class Processes(Launcher):
    """One process for each device."""

    name: ClassVar[str] = "processes"
    summary: ClassVar[str] = "one process for each device on every host, started by the launcher itself"

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """How many, and the port where rank 0 will listen."""
        add_process_count(parser)
        parser.add_argument(
            "--master-port",
            "--master_port",
            type=whole_number(1, 65535),
            default=MASTER_PORT,
            metavar="PORT",
            help=f"port on the first host where rank 0 listens (default: {MASTER_PORT})",
        )

    def launch(self, situation: Situation) -> Launch:
        """A command for each local rank."""
        local_size, port = situation.processes[situation.host_rank], int(situation.options.master_port or MASTER_PORT)
        return Launch(
            commands=tuple(
                Command(
                    name="process",
                    argv=situation.script,
                    environment={
                        "RANK": str(situation.first_rank + local),
                        "LOCAL_RANK": str(local),
                        "WORLD_SIZE": str(situation.world_size),
                        "LOCAL_WORLD_SIZE": str(local_size),
                        "GROUP_RANK": str(situation.host_rank),
                        "GROUP_WORLD_SIZE": str(len(situation.world)),
                        "MASTER_ADDR": situation.leader_address,
                        "MASTER_PORT": str(port),
                    },
                    rank=situation.first_rank + local,
                    local_rank=local,
                )
                for local in range(local_size)
            ),
            # by its presence torch_neuronx knows a process of a world, for which it then sets Neuron's own variables
            environment={"TORCHELASTIC_RUN_ID": situation.job_name} if situation.devices.neuron_cores else {},
            ports=(port,) if situation.host_rank == 0 else (),
        )
