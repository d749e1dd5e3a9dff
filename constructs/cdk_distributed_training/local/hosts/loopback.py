"""Hosts that are only process groups on this machine, each with an address of the loopback network.

For machines without the rights for namespaces and for macOS. Less is real: one host name, one /tmp, one process list,
no /opt/ml (the base folder is told by `SAGEMAKER_BASE_DIR`), no link to shape or to cut.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from cdk_distributed_training.local.hosts import guard
from cdk_distributed_training.local.hosts.base import Hosts


class LoopbackHosts(Hosts):
    """Several hosts in name only; see `Hosts` for what they can do.

    Args:
        names: Host names; they do not resolve, `TRAINING_HOST_ADDRESSES` tells the launcher their addresses.
        root: Folder for the hosts' files.
        run_id: Unused here, but part of the common interface.
    """

    kind = "loopback"

    def __init__(self, names: Sequence[str], root: Path, run_id: str) -> None:
        """Make the hosts' folders."""
        super().__init__(names, root, run_id)
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._lifelines: dict[str, int] = {}
        self._scratch = Path(tempfile.mkdtemp(prefix="dtrain-", dir=_short_temporary_folder()))

    @property
    def interface(self) -> str:
        """The loopback interface."""
        return "lo" if sys.platform == "linux" else "lo0"

    def address(self, host: str) -> str:
        """127.0.0.11, 127.0.0.12, ... on Linux; elsewhere only 127.0.0.1 exists without administration."""
        self._known(host)
        number = self.names.index(host) + 11
        return f"127.0.{number // 256}.{number % 256}" if sys.platform == "linux" else "127.0.0.1"

    def environment(self, host: str) -> dict[str, str]:
        """Where the base folder is, which address each host has, and folders that no two hosts share."""
        scratch = str(self._scratch / host)
        return {
            "HOME": scratch,
            "TMPDIR": scratch,
            "SAGEMAKER_BASE_DIR": str(self.opt_ml(host)),
            "TRAINING_HOST_ADDRESSES": json.dumps({name: self.address(name) for name in self.names}),
        }

    def share(self, host: str, source: Path, target: str, *, writable: bool = False) -> None:
        """Link to a folder at `<opt_ml>/<target>`; nothing keeps the training from writing to it."""
        del writable
        link = self.opt_ml(host) / target
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(source.resolve(), target_is_directory=True)

    def start(self, host: str, argv: Sequence[str], env: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """Run the entrypoint below a guard process that ends with this one."""
        self._known(host)
        if self._running(host):
            raise RuntimeError(f"{host} is already running")
        self._cut(host)
        scratch = self._scratch / host
        scratch.mkdir(parents=True, exist_ok=True)
        reader, writer = os.pipe()
        process = subprocess.Popen(
            [sys.executable, "-S", "-E", guard.__file__, str(reader), str(scratch), *argv],
            env={**self.environment(host), **env}, cwd=self.opt_ml(host), pass_fds=[reader],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        os.close(reader)
        self._lifelines[host] = writer
        self._processes[host] = process
        return process

    def signal(self, host: str, signum: int) -> bool:
        """Send a signal to the entrypoint, by way of the guard; SIGKILL ends all of the host."""
        if not self._running(host):
            return False
        if signum == 9:
            self._cut(host)
        else:
            self._processes[host].send_signal(signum)
        return True

    def listens(self, host: str, signum: int) -> bool:
        """True while the host runs: without a PID namespace a signal that nobody catches ends the entrypoint."""
        self._known(host)
        return self._running(host)

    def kill(self, host: str) -> None:
        """End the entrypoint and all its descendants."""
        self._known(host)
        self._cut(host)

    def close(self) -> None:
        """End everything on all hosts."""
        for host in list(self._lifelines):
            self._cut(host)
        for process in self._processes.values():
            process.wait()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def _running(self, host: str) -> bool:
        self._known(host)
        process = self._processes.get(host)
        return process is not None and process.poll() is None

    def _cut(self, host: str) -> None:
        lifeline = self._lifelines.pop(host, None)
        if lifeline is not None:
            os.close(lifeline)


def _short_temporary_folder() -> str:
    """The folder for temporary files, unless its path leaves too little room for the names of sockets in it.

    A socket's whole path must fit into 104 bytes on macOS, where TMPDIR alone has 49, and 108 on Linux.
    """
    folder = tempfile.gettempdir()
    return folder if len(folder) <= 24 else "/tmp"  # noqa: S108
