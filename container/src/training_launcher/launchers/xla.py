"""xla: PyTorch on Trainium, through PyTorch/XLA or, on Trn2 and Trn3, through the native ``neuron`` backend.

The ranks are started as by the kind torchrun, or by the launcher itself as by the kind processes.
https://awsdocs-neuron.readthedocs-hosted.com/en/latest/frameworks/torch/torch-neuronx/programming-guide/training/pytorch-neuron-programming-guide.html
https://awsdocs-neuron.readthedocs-hosted.com/en/latest/torch/guides/torch-distributed.html
"""

from __future__ import annotations

import argparse
from typing import ClassVar

from training_launcher.devices import Devices
from training_launcher.launchers.base import Launch, Launcher, Situation
from training_launcher.launchers.processes import Processes
from training_launcher.launchers.torchrun import Torchrun
from training_launcher.needs import Program
from training_launcher.neuron import (
    compile_cache_variables,
    installed_versions,
    network_of_collectives,
    spmd_variables,
    xla_variables,
)
from training_launcher.precompile import TOOL
from training_launcher.problems import Problem

COMPILER = Program(TOOL, "--precompile needs torch-neuronx; AWS's Neuron training images hold it")
_AGENTS: dict[str, type[Launcher]] = {"torchrun": Torchrun, "processes": Processes}
_PATIENCE = 24 * 3600
"""Seconds that the hosts wait for each other between compiling and training."""


class Xla(Launcher):
    """One process for each logical Neuron core, or for all of a host's; PyTorch/XLA computes on the CPU without any."""

    name: ClassVar[str] = "xla"
    summary: ClassVar[str] = "PyTorch on Trainium: one process for each Neuron core on every host"

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """Torchrun's options, and Neuron's."""
        Torchrun.add_arguments(parser)
        parser.add_argument(
            "--agent",
            choices=list(_AGENTS),
            default="torchrun",
            help="what starts the ranks: torchrun, or the launcher itself, which is quicker and never restarts them "
            "(default: torchrun)",
        )
        parser.add_argument(
            "--backend",
            choices=["xla", "neuron"],
            default="xla",
            help="PyTorch/XLA (Trn1, Trn2), or the native backend of Trn2 and Trn3 (default: xla)",
        )
        parser.add_argument(
            "--spmd",
            action="store_true",
            help="one process on each host, which computes with all its cores, for scripts that split tensors over all "
            "cores of all hosts: torch_xla's use_spmd(), or JAX (then with --agent processes)",
        )
        parser.add_argument(
            "--compile-cache",
            metavar="DIR|S3",
            help="where compiled graphs are kept: a folder, best on a shared file system, or s3://bucket/prefix "
            "(default: Neuron's own, which ends with the job)",
        )
        parser.add_argument(
            "--compile-cache-key",
            metavar="WORD",
            help="a folder in it for graphs that belong together, or an empty word for none "
            "(default: the versions of the installed Neuron packages)",
        )
        parser.add_argument(
            "--precompile",
            choices=["no", "only", "first"],
            default="no",
            help="compile the script's graphs in parallel by neuron_parallel_compile, from a run of the script without "
            "computing: instead of training, or before it (default: no)",
        )

    def processes(self, options: argparse.Namespace, devices: Devices) -> int:
        """One for each core, unless one is to have them all."""
        if not options.spmd:
            return super().processes(options, devices)
        if options.nproc_per_node not in ("auto", "1"):
            raise Problem(
                f"--spmd starts one process on each host, got --nproc-per-node {options.nproc_per_node}: leave it out"
            )
        return 1

    def alike(self, options: argparse.Namespace) -> str:
        """One program is split over the cores of all hosts."""
        return "with --spmd every host must have the same" if options.spmd else ""

    def launch(self, situation: Situation) -> Launch:
        """The agent's launch, with Neuron's variables."""
        options, devices = situation.options, situation.devices
        if options.precompile != "no":
            return self._precompile(situation)
        if options.max_restarts and options.agent != "torchrun":
            raise Problem(f"--max-restarts needs --agent torchrun, got {options.agent}, which never restarts")
        if options.spmd and options.backend != "xla":
            raise Problem(f"--spmd needs --backend xla, got {options.backend}, which has no such mode")
        launch = _AGENTS[options.agent]().launch(situation)
        hosts, address = len(situation.world), situation.leader_address
        variables = {
            # without it torch_neuronx takes each process for a world of its own
            "TORCHELASTIC_RUN_ID": situation.job_name,
            **network_of_collectives(devices, situation.cluster.interface, hosts),
            **(xla_variables(devices, address, hosts) if options.backend == "xla" else {}),
            **(spmd_variables(devices, situation.host_rank, hosts) if options.spmd else {}),
            **self._cache(options),
        }
        if options.agent == "torchrun":
            del variables["TORCHELASTIC_RUN_ID"]  # torchrun's own business
        notes = () if devices.neuron_cores else (_NO_CORE[options.backend],)
        return launch._replace(environment={**launch.environment, **variables}, notes=notes)

    @staticmethod
    def _cache(options: argparse.Namespace) -> dict[str, str]:
        if not options.compile_cache:
            return {}
        key = installed_versions() if options.compile_cache_key is None else options.compile_cache_key
        return compile_cache_variables(options.backend, options.compile_cache, key)

    def _precompile(self, situation: Situation) -> Launch:
        options = situation.options
        for option, value, needed in (("--agent", options.agent, "torchrun"), ("--backend", options.backend, "xla")):
            if value != needed:
                raise Problem(f"--precompile needs {option} {needed}, got {value}: {TOOL} wraps one command a host")
        # one host may have compiled, and wait for the others, long before they have
        waits = [f"{name}={_PATIENCE}" for name in ("timeout", "join_timeout") if f"{name}=" not in options.rdzv_conf]
        patient = ",".join([*waits, *([options.rdzv_conf] if options.rdzv_conf else [])])
        settings = {**vars(options), "precompile": "no", "rdzv_conf": patient}
        launch = self.launch(situation._replace(options=argparse.Namespace(**settings)))
        (command,) = launch.commands
        wrapper = (*situation.guard[:-1], f"{situation.run_directory}/precompile.py", options.precompile)
        command = command._replace(argv=(*wrapper, *command.argv), closing_words=True, rehearses=True)
        return launch._replace(commands=(command,), needs=(*launch.needs, COMPILER))


_NO_CORE = {
    "xla": "no Neuron core here: PyTorch/XLA computes on the CPU, where its collectives do nothing and say nothing; "
    "between processes use gloo",
    "neuron": "no Neuron core here: the neuron backend cannot work",
}
