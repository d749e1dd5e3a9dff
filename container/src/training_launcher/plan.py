"""The launch plan: what one host will run, as a pure value that ``--dry-run`` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Optional

from training_launcher.needs import Need
from training_launcher.secrets_mask import HIDDEN, Mask, is_secret_name


class Command(NamedTuple):
    """A process that the launcher starts itself."""

    name: str
    """Its label in the output, such as ``torchrun``."""
    argv: tuple[str, ...]
    environment: Mapping[str, str] = {}
    """On top of the plan's."""
    rank: Optional[int] = None
    """Global rank, where the process is one; None for a program that starts ranks, such as torchrun."""
    local_rank: int = 0
    service: bool = False
    """A program beside the ranks, such as a parameter server: it ends when they have ended."""
    closing_words: bool = False
    """Whether what it says after its ranks have ended well matters; torchrun often ends a success by a traceback."""
    rehearses: bool = False
    """Whether its ranks first run without training, until ``precompile.py`` tells that this is over."""


class LaunchPlan(NamedTuple):
    """What this host runs and where it stands among the others."""

    kind: str
    job_name: str
    host: str
    hosts: tuple[str, ...]
    """All hosts of the job."""
    world: tuple[str, ...]
    """Those that run ranks, the leader first."""
    processes: int
    """Ranks on this host."""
    first_rank: int
    """Global rank of this host's first, before anything restarts."""
    world_size: int
    commands: tuple[Command, ...]
    environment: Mapping[str, str]
    """Variables added to what the container was started with."""
    working_directory: str
    ports: tuple[int, ...] = ()
    """TCP ports that must be free on this host."""
    restarts: bool = False
    """Whether a rank's failure may be followed by a restart, so that only the command's own end decides."""
    needs: tuple[Need, ...] = ()
    """What must be installed on this host."""
    awaits: Optional[float] = None
    """Seconds within which another host sends the command that starts the ranks here, if one does."""
    notes: tuple[str, ...] = ()
    """What the reader of the log should know before anything starts."""

    @property
    def host_rank(self) -> int | None:
        """Place of this host in the world; None outside of it."""
        return self.world.index(self.host) if self.host in self.world else None

    @property
    def described(self) -> str:
        """What this host does, in words."""
        services = ", ".join(command.name for command in self.commands if command.service)
        if self.host_rank is None:
            world = f"{', '.join(self.world[:8])}{' …' if len(self.world) > 8 else ''}"
            return f"runs {services} beside {world}" if services else f"takes no part; waits for {world}"
        what = []
        if self.processes:
            what.append(f"ranks {self.first_rank} to {self.first_rank + self.processes - 1} of {self.world_size}")
        if services or not what:
            what.append(services or f"which waits for {self.world[0]}")
        place = f"host {self.host_rank + 1} of {len(self.world)}"
        return f"{self.kind}: {place}, {' and '.join(what)}, in {self.working_directory}"

    def to_json(self, mask: Mask) -> dict[str, Any]:
        """The plan for printing: credentials hidden, a host outside the world with `host_rank` null."""
        return {
            "kind": self.kind,
            "job_name": self.job_name,
            "host": self.host,
            "hosts": list(self.hosts),
            "world": list(self.world),
            "host_rank": self.host_rank,
            "leader": self.world[0],
            "processes_per_host": self.processes,
            "first_rank": self.first_rank,
            "world_size": self.world_size,
            "working_directory": self.working_directory,
            "commands": [
                {
                    "name": command.name,
                    "rank": command.rank,
                    "service": command.service,
                    "argv": mask.all(command.argv),
                    "environment": masked_environment(command.environment, mask),
                }
                for command in self.commands
            ],
            "environment": masked_environment(self.environment, mask),
            "ports": list(self.ports),
            "notes": list(self.notes),
        }


def masked_environment(variables: Mapping[str, str], mask: Mask) -> dict[str, str]:
    """Variables for printing, ordered by name."""
    return {
        name: HIDDEN if is_secret_name(name) and mask(value) != value else mask(value)
        for name, value in sorted(variables.items())
    }


def shown(argv: Sequence[str]) -> str:
    """A command on one line, as a person could type it."""
    import shlex  # noqa: PLC0415

    return " ".join(
        # the C escapes of bash, where a word would break the line
        shlex.quote(word)
        if word.isprintable()
        else "$'" + word.encode("unicode_escape").decode("ascii").replace("'", "\\'") + "'"
        for word in argv
    )
