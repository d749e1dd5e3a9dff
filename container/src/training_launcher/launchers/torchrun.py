"""torchrun: one agent a host, which starts and restarts the ranks.

https://docs.pytorch.org/docs/stable/elastic/run.html
"""

from __future__ import annotations

import argparse
from typing import ClassVar

from training_launcher.launchers.base import Launch, Launcher, Situation, add_process_count, whole_number
from training_launcher.plan import Command

MASTER_PORT = 7777


class Torchrun(Launcher):
    """Rendezvous is static, which is quick and needs no agreement, unless restarts over several hosts ask for c10d."""

    name: ClassVar[str] = "torchrun"
    summary: ClassVar[str] = "PyTorch's torchrun on every host"

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """Torchrun's own options, under its own names."""
        add_process_count(parser)
        parser.add_argument(
            "--max-restarts",
            "--max_restarts",
            type=whole_number(0),
            default=0,
            metavar="N",
            help="restart all ranks up to N times after one fails (default: 0)",
        )
        parser.add_argument(
            "--rdzv-backend",
            "--rdzv_backend",
            choices=["static", "c10d"],
            help="how the hosts find each other (default: static; c10d when several hosts are to restart)",
        )
        parser.add_argument("--rdzv-id", "--rdzv_id", metavar="ID", help="rendezvous id (default: the job's name)")
        parser.add_argument(
            "--rdzv-conf",
            "--rdzv_conf",
            default="",
            metavar="K=V,...",
            help="further rendezvous settings, such as join_timeout=600,timeout=900",
        )
        parser.add_argument(
            "--master-port",
            "--master_port",
            type=whole_number(1, 65535),
            metavar="PORT",
            help=f"rendezvous port on the first host (default: {MASTER_PORT}; a free one when there is one host)",
        )
        parser.add_argument(
            "--torchrun-argument",
            action="append",
            default=[],
            metavar="WORD",
            help="a further argument for torchrun, such as --torchrun-argument=--numa-binding=node; may be repeated",
        )

    def launch(self, situation: Situation) -> Launch:
        """The agent's command line; ranks go through the guard, which reports their end and their output."""
        options = situation.options
        several = len(situation.world) > 1
        fixed_port = several or options.master_port or options.rdzv_backend
        argv = (
            situation.python,
            f"{situation.run_directory}/torchrun_agent.py",
            *self._after(situation),
            "--nnodes",
            str(len(situation.world)),
            "--nproc-per-node",
            str(situation.processes[situation.host_rank]),
            "--max-restarts",
            str(int(options.max_restarts)),
            *(self._rendezvous(situation) if fixed_port else ("--standalone",)),
            *options.torchrun_argument,
            "--no-python",
            *situation.guard,
            *situation.script,
        )
        # Without it a restart meets the dead ranks' addresses in the shared store: pytorch/pytorch#135712
        environment = {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"} if several and options.max_restarts else {}
        return Launch(
            commands=(Command(self.name, argv),),
            environment=environment,
            ports=(self._port(situation),) if fixed_port and situation.host_rank == 0 else (),
            restarts=options.max_restarts > 0,
        )

    @staticmethod
    def _port(situation: Situation) -> int:
        return int(situation.options.master_port or MASTER_PORT)

    def _after(self, situation: Situation) -> tuple[str, ...]:
        """Whom the agent is to meet, where that is another host's."""
        return ("--after", f"{situation.leader_address}:{self._port(situation)}") if situation.host_rank else ()

    def _rendezvous(self, situation: Situation) -> tuple[str, ...]:
        options, port = situation.options, self._port(situation)
        several = len(situation.world) > 1
        backend = options.rdzv_backend or ("c10d" if several and options.max_restarts else "static")
        identity = ("--rdzv-id", options.rdzv_id or situation.job_name)
        # addresses are handed out only where names would not resolve, the own host's name included
        local = situation.addresses[situation.cluster.current_host]
        told = ("--local-addr", local) if local != situation.cluster.current_host else ()
        if backend == "static":
            return (
                *identity,
                *(("--rdzv-conf", options.rdzv_conf) if options.rdzv_conf else ()),
                *told,
                "--node-rank",
                str(situation.host_rank),
                "--master-addr",
                situation.leader_address,
                "--master-port",
                str(port),
            )
        # torch guesses which host is the rendezvous host from names; the launcher knows
        settings = [f"is_host={int(situation.host_rank == 0)}"]
        if "join_timeout=" not in options.rdzv_conf:
            settings.append("join_timeout=600")
        return (
            "--rdzv-backend",
            "c10d",
            *identity,
            "--rdzv-endpoint",
            f"{situation.leader_address}:{port}",
            "--rdzv-conf",
            ",".join([*settings, *([options.rdzv_conf] if options.rdzv_conf else [])]),
            *told,
        )
