"""What every kind of local host can do."""

from __future__ import annotations

import abc
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import ClassVar, TypeVar

SomeHosts = TypeVar("SomeHosts", bound="Hosts")

# The folders that a training container finds under /opt/ml.
OPT_ML_FOLDERS = ("input/config", "input/data", "code", "model", "checkpoints", "output/data")


class HostsUnavailableError(RuntimeError):
    """Raised when this machine cannot make the hosts that were asked for; says why and what would help."""


class Hosts(abc.ABC):
    """Several hosts that see each other by name, each with its own `/opt/ml`, each running one container entrypoint.

    Use it as a context manager: leaving it ends every process that was started and removes what it made, except the
    folders of `opt_ml`, which belong to the caller.

    Args:
        names: Host names such as `algo-1`; all of them exist for as long as the object does.
        root: Folder for the hosts' files; `<root>/<host>/ml` becomes the host's `/opt/ml`.
        run_id: Shown in the process list, so that a person can tell two runs apart.
    """

    kind: ClassVar[str]
    """How the hosts are made, in one word: `namespaces` or `loopback`."""

    def __init__(self, names: Sequence[str], root: Path, run_id: str) -> None:
        """Remember the names and make the folders of every host's /opt/ml."""
        if not names or len(set(names)) != len(names):
            raise ValueError(f"host names must be given and differ, got {list(names)}")
        self.names = tuple(names)
        self.root = root.resolve()
        self.run_id = run_id
        for host in self.names:
            for folder in OPT_ML_FOLDERS:
                (self.opt_ml(host) / folder).mkdir(parents=True, exist_ok=True)

    def opt_ml(self, host: str) -> Path:
        """The folder of this machine that the host sees as its /opt/ml."""
        self._known(host)
        return self.root / host / "ml"

    @property
    def own_places(self) -> tuple[str, ...]:
        """Folders that are each host's own."""
        return ("/opt/ml",)

    def own_path(self, host: str, path: Path) -> Path | None:
        """The place on this machine of a path that the host has to itself; None if it has it not."""
        return self.opt_ml(host) / path.relative_to("/opt/ml") if Path("/opt/ml") in path.parents else None

    @property
    @abc.abstractmethod
    def interface(self) -> str:
        """Name of the network interface through which the hosts see each other, as in `resourceconfig.json`."""

    @abc.abstractmethod
    def environment(self, host: str) -> dict[str, str]:
        """Variables by which the container finds its files and peers on this kind of host; `start` sets them."""

    @abc.abstractmethod
    def share(self, host: str, source: Path, target: str, *, writable: bool = False) -> None:
        """Make a folder of this machine appear at `<opt_ml>/<target>`; read-only where the kind of host can do that.

        To be called before `start`.

        Args:
            host: One of `names`.
            source: The folder.
            target: Where it appears.
            writable: Whether the host may write to it.
        """

    @abc.abstractmethod
    def start(self, host: str, argv: Sequence[str], env: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """Run a container entrypoint on a host.

        Its standard output carries standard error too. The process's return code is the entrypoint's exit code,
        128 + N if signal N ended it. A host whose entrypoint has ended may be started again.

        Args:
            host: One of `names`.
            argv: The entrypoint with its arguments.
            env: The environment besides `environment(host)`; nothing is inherited from this process.
        """

    @abc.abstractmethod
    def signal(self, host: str, signum: int) -> bool:
        """Send a signal to the host's entrypoint, as `docker stop` does; False if none is running."""

    @abc.abstractmethod
    def listens(self, host: str, signum: int) -> bool:
        """Whether the host's entrypoint has a handler for this signal (PID 1 never sees a signal without one)."""

    @abc.abstractmethod
    def kill(self, host: str) -> None:
        """End everything on a host at once, as when the machine is lost."""

    @abc.abstractmethod
    def close(self) -> None:
        """End everything on all hosts; safe to call twice."""

    def _known(self, host: str) -> None:
        if host not in self.names:
            raise KeyError(f"no host {host!r}; there are {', '.join(self.names)}")

    def __enter__(self: SomeHosts) -> SomeHosts:
        """The hosts themselves."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End everything on all hosts."""
        self.close()
