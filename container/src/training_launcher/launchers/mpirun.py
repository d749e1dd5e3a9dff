"""mpirun: the launcher of Open MPI 4 or 5 on the first host starts the ranks on all of them.

There is no ssh: mpirun reaches the other hosts through ``launch_agent.py`` and the control channel. No ``-x`` either:
each host's launcher starts the daemon there with that host's own environment, which the ranks inherit, so that no
variable, and no credential, is ever on a command line.

One command line serves both versions: each knows these options, if with two dashes, and ignores the other's parameters.
https://www.open-mpi.org/doc/v4.1/man1/mpirun.1.php
https://docs.open-mpi.org/en/v5.0.x/man-openmpi/man1/mpirun.1.html
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import ClassVar

from training_launcher.launchers.base import Launch, Launcher, Situation, add_process_count, whole_number
from training_launcher.needs import Need, Program, PythonModule
from training_launcher.plan import Command
from training_launcher.problems import Problem

MASTER_PORT = 7777
FOLDERS = ("/opt/amazon/openmpi/bin", "/opt/amazon/openmpi5/bin")
"""Where AWS's EFA installer, and with it the deep learning containers, put Open MPI 4 and 5."""
_FIX = (
    "this launch kind needs Open MPI; AWS's deep learning containers hold it, "
    "and elsewhere `apt-get install openmpi-bin` in the image adds it"
)
MPIRUN = Program("mpirun", _FIX, FOLDERS)
"""Also on the hosts where it only starts a daemon, which comes with it: ``orted`` in version 4, ``prted`` in 5."""
MPI4PY = PythonModule("mpi4py", "add it to requirements.txt, or leave out --mpi4py always")

_GIVES_A_PARAMETER = {"mca", "gmca", "prtemca"}
_TWO_DASHES = {f"-{name}": f"--{name}" for name in ("mca", "gmca", "bind-to", "map-by", "rank-by")}
"""What version 5 does not know, or gives to the ranks instead of taking it itself, with the one dash of version 4."""
_GUARD = 'exec "$0" -S -E "$TRAINING_LAUNCHER_RUN/rank.py" "$@"'
"""The guard lies elsewhere on each host, and mpirun has one command line for all."""


class Mpirun(Launcher):
    """The leader runs mpirun; the other hosts wait for the command that mpirun sends them."""

    name: ClassVar[str] = "mpirun"
    summary: ClassVar[str] = "Open MPI's mpirun on the first host, with ranks on every host"

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """How many ranks, and what else mpirun is to be told."""
        add_process_count(parser)
        parser.add_argument(
            "--mpi-option",
            action="append",
            default=[],
            metavar="WORD",
            help="a further word for mpirun, as in --mpi-option=-x --mpi-option=NAME=value; may be repeated; "
            "an MCA parameter given here, or in the environment (OMPI_MCA_*, PRTE_MCA_*), replaces the launcher's own",
        )
        parser.add_argument(
            "--mpi4py",
            choices=["auto", "always", "never"],
            default="auto",
            help="run Python scripts by `-m mpi4py`, so that an exception ends MPI instead of waiting in it for the "
            "other ranks (default: auto, where mpi4py is installed)",
        )
        parser.add_argument(
            "--launch-timeout",
            type=whole_number(1),
            default=300,
            metavar="SECONDS",
            help="how long a host waits for mpirun's command from the first host (default: 300)",
        )
        parser.add_argument(
            "--master-port",
            "--master_port",
            type=whole_number(1, 65535),
            default=MASTER_PORT,
            metavar="PORT",
            help=f"port on the first host where rank 0 of torch.distributed listens (default: {MASTER_PORT})",
        )

    def launch(self, situation: Situation) -> Launch:
        """Mpirun's command line on the first host; nothing yet on the others."""
        environment = {
            "MASTER_ADDR": situation.leader_address,
            "MASTER_PORT": str(int(situation.options.master_port)),
            "GROUP_RANK": str(situation.host_rank),
            "GROUP_WORLD_SIZE": str(len(situation.world)),
            "TRAINING_LAUNCHER_RUN": situation.run_directory,
            # mpirun would end all others at the first exit code, the cause of it among them before it can speak
            "TRAINING_FAILURE_HOLD": "10",
            "SM_FRAMEWORK_PARAMS": json.dumps(self.framework_parameters(situation), separators=(",", ":")),
            **self.environment(situation),
        }
        if situation.host_rank:
            return Launch(
                (),
                environment=environment,
                needs=(MPIRUN, *self.needs(situation)),
                awaits=float(situation.options.launch_timeout),
            )
        return Launch(
            commands=(Command("mpirun", self._argv(situation)),),
            environment=environment,
            ports=(int(situation.options.master_port),),
            needs=(MPIRUN, *self.needs(situation)),
            awaits=float(situation.options.launch_timeout),
        )

    # What kinds that build on mpirun answer otherwise

    def environment(self, situation: Situation) -> Mapping[str, str]:
        """Further variables."""
        del situation
        return {}

    def needs(self, situation: Situation) -> tuple[Need, ...]:
        """What the image must hold besides Open MPI."""
        return (MPI4PY,) if situation.options.mpi4py == "always" else ()

    def wrapper(self, situation: Situation) -> tuple[str, ...]:
        """A program that starts the script."""
        del situation
        return ()

    def framework_parameters(self, situation: Situation) -> Mapping[str, object]:
        """What libraries read from ``SM_FRAMEWORK_PARAMS`` to find out how they were started."""
        return {
            "sagemaker_mpi_enabled": True,
            "sagemaker_mpi_num_of_processes_per_host": situation.processes[situation.host_rank],
            "sagemaker_mpi_custom_mpi_options": " ".join(situation.options.mpi_option),
        }

    def mpirun_words(self, situation: Situation) -> tuple[str, ...]:
        """Further words for mpirun, before the user's."""
        del situation
        return ()

    # The command line

    def _argv(self, situation: Situation) -> tuple[str, ...]:
        options = tuple(_TWO_DASHES.get(word, word) for word in situation.options.mpi_option)
        several = len(situation.world) > 1
        hosts = situation.world if several else ("localhost",)
        return (
            MPIRUN.word(situation.environment),
            "--host",
            ",".join(f"{host}:{situation.processes[number]}" for number, host in enumerate(hosts)),
            "-np",
            str(situation.world_size),
            "--allow-run-as-root",
            *_parameters(situation, options, several=several),
            *_placement(options),
            *self.mpirun_words(situation),
            *options,
            "/bin/sh",
            "-c",
            _GUARD,
            situation.python,
            *self.wrapper(situation),
            *_script(situation),
        )


def _script(situation: Situation) -> tuple[str, ...]:
    script, chosen = situation.script, situation.options.mpi4py
    if script[:2] != (situation.python, "-u") or chosen == "never":
        return script
    if chosen == "auto" and not MPI4PY.found(situation.working_directory):
        return script
    return (*script[:2], "-m", "mpi4py", *script[2:])


def _parameters(situation: Situation, options: tuple[str, ...], *, several: bool) -> tuple[str, ...]:
    """MCA parameters, but for those that the user sets."""
    interface = situation.cluster.interface
    wanted = {
        # MPI carries little more than control messages in training; EFA is left to NCCL
        "pml": "ob1",
        "btl": "^openib",
        # copies between processes need a capability that containers do not have; named by version 4, then by 5
        "btl_vader_single_copy_mechanism": "none",
        "smsc": "^cma",
        # version 5 does so without being asked
        "orte_abort_on_non_zero_status": "1",
    }
    if situation.environment.get("TRAINING_HOST_ADDRESSES"):
        # these are set where hosts share a machine; what Open MPI names in shared memory would collide there
        wanted["btl"] = "tcp,self"
    if "SLURM_JOB_ID" in situation.environment:
        # Open MPI would take the step's one task on each node for all the room there is
        wanted["ras"] = "^slurm"
    if several and interface:
        wanted["btl_tcp_if_include"] = interface
        if interface != "lo":  # which version 5's daemons refuse by name
            wanted["oob_tcp_if_include"] = interface
    given = {options[i + 1] for i, word in enumerate(options[:-1]) if word.lstrip("-") in _GIVES_A_PARAMETER}
    given |= {name[9:] for name in situation.environment if name.startswith(("OMPI_MCA_", "PRTE_MCA_"))}
    if "prte_if_include" in given:  # version 5's name, which warns of the other if it gets both
        wanted.pop("oob_tcp_if_include", None)
    words = _words({name: value for name, value in wanted.items() if name not in given})
    return (*words, *_agent(situation)) if several else words


def _agent(situation: Situation) -> tuple[str, ...]:
    """How mpirun reaches the other hosts. The daemons stay in the foreground, so that their launcher sees their end."""
    agent = f"{situation.run_directory}/launch_agent.py"
    if any(letter in situation.python + agent for letter in " :,"):
        raise Problem(
            f"mpirun cannot call {situation.python} {agent}: the folder of the Python interpreter and the one named by "
            "TMPDIR must have no space, colon or comma in their names"
        )
    call = f"{situation.python} -S -E {agent}"
    return (
        "--leave-session-attached",
        *_words({"plm": "^slurm"}),  # which would start them by srun
        *_words({"plm_rsh_agent": call, "plm_rsh_no_tree_spawn": "1"}),  # version 4
        *_words({"plm_ssh_agent": call, "plm_ssh_no_tree_spawn": "1"}),  # version 5
    )


def _words(parameters: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(word for name, value in parameters.items() for word in ("--mca", name, value))


def _placement(options: tuple[str, ...]) -> tuple[str, ...]:
    """Ranks in the order of the hosts, bound to no processor, unless the user says otherwise."""
    given = {word.lstrip("-") for word in options}
    return (
        *(() if given & {"bind-to", "bind-to-core", "bind-to-socket", "cpu-set"} else ("--bind-to", "none")),
        *(() if given & {"map-by", "bynode", "byslot", "npernode", "N", "ppr"} else ("--map-by", "slot")),
    )
