"""What a launch kind answers. A new kind is one file beside this one with a subclass; nothing else names kinds."""

from __future__ import annotations

import abc
import argparse
from collections.abc import Mapping
from typing import ClassVar, NamedTuple, Optional

from training_launcher.cluster import Cluster
from training_launcher.devices import Devices
from training_launcher.entry import Entry
from training_launcher.needs import Need
from training_launcher.plan import Command
from training_launcher.problems import Problem


class Situation(NamedTuple):
    """All that a plan may depend on."""

    cluster: Cluster
    world: tuple[str, ...]
    processes: tuple[int, ...]
    """Ranks on each host of the world, in its order."""
    devices: Devices
    options: argparse.Namespace
    entry: Entry
    arguments: tuple[str, ...]
    """The script's arguments that come from hyperparameters."""
    working_directory: str
    run_directory: str
    """The launcher's own files of this run."""
    python: str
    addresses: Mapping[str, str]
    """Host name to what reaches it: the name itself, unless the job was told addresses."""
    job_name: str
    environment: Mapping[str, str]
    hyperparameters: Mapping[str, str] = {}

    @property
    def script(self) -> tuple[str, ...]:
        """The user's command, whole."""
        return (*self.entry.command(self.python, self.working_directory), *self.arguments)

    @property
    def host_rank(self) -> int:
        """Place of this host in the world; only for hosts in it."""
        return self.world.index(self.cluster.current_host)

    @property
    def world_size(self) -> int:
        """Ranks in all."""
        return sum(self.processes)

    @property
    def first_rank(self) -> int:
        """Global rank of this host's first rank."""
        return sum(self.processes[: self.host_rank])

    @property
    def leader_address(self) -> str:
        """What reaches the first host of the world."""
        return self.addresses[self.world[0]]

    @property
    def guard(self) -> tuple[str, ...]:
        """Words that go before a rank's command where another program starts it; see ``rank.py``."""
        return (self.python, "-S", "-E", f"{self.run_directory}/rank.py")


class Launch(NamedTuple):
    """What one kind makes of a situation."""

    commands: tuple[Command, ...]
    environment: Mapping[str, str] = {}
    ports: tuple[int, ...] = ()
    """TCP ports that must be free on this host."""
    restarts: bool = False
    needs: tuple[Need, ...] = ()
    """What must be installed on this host."""
    awaits: Optional[float] = None
    """Seconds within which another host sends the command that starts the ranks here, if one does."""
    notes: tuple[str, ...] = ()
    """What the reader of the log should know before anything starts."""


class Launcher(abc.ABC):
    """A launch kind, such as torchrun. Stateless: it turns a situation into commands."""

    name: ClassVar[str]
    """The word on the command line."""
    summary: ClassVar[str]
    """One line for ``--help``."""
    kinds: ClassVar[list[type[Launcher]]] = []
    """Every subclass with a word of its own, as they are imported."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" in vars(cls):
            Launcher.kinds.append(cls)

    @classmethod  # noqa: B027  a kind may have none
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """Add the kind's own options."""

    def processes(self, options: argparse.Namespace, devices: Devices) -> int:
        """Ranks on this host, as its devices or the options say."""
        return process_count(getattr(options, "nproc_per_node", "auto"), devices)

    def hyperparameters(self, options: argparse.Namespace, hyperparameters: Mapping[str, str]) -> Mapping[str, str]:
        """The job's hyperparameters, with what the kind's options add to them."""
        del options
        return hyperparameters

    def has_ranks(self, options: argparse.Namespace, host_rank: int) -> bool:
        """Whether ranks run on that host of the world; the job ends when all hosts' ranks have ended."""
        del options, host_rank
        return True

    def alike(self, options: argparse.Namespace) -> str:
        """Why all hosts must have the same devices; empty where they need not."""
        del options
        return ""

    @abc.abstractmethod
    def launch(self, situation: Situation) -> Launch:
        """What this host runs. Called on the hosts of the world only."""


def process_count(given: str, devices: Devices) -> int:
    """``auto`` or a number, as a number."""
    if given == "auto":
        return devices.processes
    if not given.isdecimal() or int(given) < 1:
        raise Problem(f"--nproc-per-node must be auto or a whole number of at least 1, got {given!r}")
    return int(given)


def add_process_count(parser: argparse.ArgumentParser) -> None:
    """Add ``--nproc-per-node``, under the names that torchrun has for it."""
    parser.add_argument(
        "--nproc-per-node",
        "--nproc_per_node",
        default="auto",
        metavar="auto|N",
        help="processes on each host; auto is one for each GPU or Neuron core, else one (default: auto)",
    )


def whole_number(least: int, most: int = 2**31) -> type:
    """An argparse type: a whole number in a range."""

    class _WholeNumber(int):
        def __new__(cls, text: str) -> _WholeNumber:
            if not text.isdecimal() or not least <= int(text) <= most:
                raise argparse.ArgumentTypeError(f"must be a whole number of at least {least}, got {text!r}")
            return super().__new__(cls, text)

    return _WholeNumber
