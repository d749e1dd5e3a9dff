"""Hosts of this machine on which launchers are started in turn, and the times at which things happened there.

The clock is the machine's monotonic one, which all hosts share.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from cdk_distributed_training.local.hosts import NamespaceHosts

ROOT = Path(__file__).parents[1]
SCRIPT = "train.py"
PROCESSES = 2
"""Ranks on each host."""
PATIENCE = 120.0  # seconds

# Holds the host until all hosts are there, so that the time it takes to make a host is no launcher's.
GATE = """
import os, pathlib, sys, time
pathlib.Path("/opt/ml/output/here").touch()
while not os.path.exists("/opt/ml/output/go"):
    time.sleep(0.002)
os.execvp(sys.argv[1], sys.argv[1:])
"""


@dataclass(frozen=True, kw_only=True)
class Way:
    """A way to start the ranks of a job.

    Attributes:
        argv: The container's command, given the host's number.
        environment: Its variables, besides PATH.
        hyperparameters: Content of hyperparameters.json.
        folders: Folders of programs that go in front on PATH.
        before: Shell commands that the host runs before the start.
    """

    argv: Callable[[int], Sequence[str]]
    environment: Mapping[str, str] = field(default_factory=dict)
    hyperparameters: Mapping[str, str] = field(default_factory=dict)
    folders: Sequence[Path] = ()
    before: str = ":"


@dataclass(frozen=True, kw_only=True)
class Finish:
    """What came of a start.

    Attributes:
        marks: When the script came to a place in it, in seconds after the start; by the place's name and the rank.
        ended: When the last host had ended.
        output: What the first host printed.
    """

    marks: Mapping[str, Mapping[int, float]]
    ended: float
    output: bytes


class LauncherHosts:
    """Hosts with the launcher's zip, on which every way starts the same script."""

    def __init__(self, hosts: NamespaceHosts) -> None:
        self._hosts = hosts
        for name in hosts.names:
            zip_launcher(hosts.opt_ml(name) / "input/data/launcher/0123abcd.zip")

    def run(self, way: Way, script: str, *, until: str | None = None) -> Finish:
        """Start the script on all hosts.

        Args:
            way: How.
            script: Its text; it may call `mark("name")`.
            until: Name of the mark at which, when all ranks have made it, the hosts are killed; else they end by
                themselves.

        Raises:
            RuntimeError: They did not end, or get there, in time; with the output.
        """
        names = self._hosts.names
        for name in names:
            self._prepare(name, way, script)
        processes = [self._start(name, number, way) for number, name in enumerate(names)]
        outputs = [bytearray() for _ in names]
        ends: dict[str, float] = {}

        def read(number: int) -> None:
            stream = processes[number].stdout
            assert stream
            while data := os.read(stream.fileno(), 1 << 18):
                outputs[number] += data
            processes[number].wait()
            ends[names[number]] = time.monotonic()

        threads = [threading.Thread(target=read, args=(number,), daemon=True) for number in range(len(names))]
        for thread in threads:
            thread.start()
        ranks = len(names) * PROCESSES

        def wait(what: str, condition: Callable[[], bool]) -> None:
            end = time.monotonic() + PATIENCE
            while not condition():
                if time.monotonic() > end or (len(ends) == len(names) and not condition()):
                    text = b"\n".join(bytes(output) for output in outputs).decode(errors="replace")
                    self._kill()
                    raise RuntimeError(f"{what}: not so in time\n{text[-20000:]}")
                time.sleep(0.01)

        wait("all hosts are there", lambda: all((self._output(name) / "here").exists() for name in names))
        start = time.monotonic()
        for name in names:
            (self._output(name) / "go").touch()
        if until:
            wait(f"all ranks at {until}", lambda: len(self._marks(start).get(until, {})) == ranks)
            self._kill()
        else:
            wait("all hosts have ended", lambda: len(ends) == len(names))
        for thread in threads:
            thread.join()
        return Finish(marks=self._marks(start), ended=max(ends.values()) - start, output=bytes(outputs[0]))

    def _prepare(self, name: str, way: Way, script: str) -> None:
        opt_ml = self._hosts.opt_ml(name)
        for folder in ("output", "code", "input/config", "input/data/code"):
            (opt_ml / folder).mkdir(parents=True, exist_ok=True)
        for path in [*(opt_ml / "output").glob("*"), *(opt_ml / "code").glob("*")]:
            if path.is_file():
                path.unlink()
        resources = {
            "current_host": name,
            "hosts": list(self._hosts.names),
            "network_interface_name": self._hosts.interface,
            "current_instance_type": "ml.c5.xlarge",
            "current_group_name": "homogeneousCluster",
        }
        (opt_ml / "input/config/resourceconfig.json").write_text(json.dumps(resources))
        (opt_ml / "input/config/hyperparameters.json").write_text(json.dumps(dict(way.hyperparameters)))
        (opt_ml / "input/config/inputdataconfig.json").write_text("{}")
        (opt_ml / "code" / SCRIPT).write_text(_MARK + script)
        with zipfile.ZipFile(opt_ml / "input/data/code/4567cdef.zip", "w") as archive:
            archive.writestr(SCRIPT, _MARK + script)

    def _start(self, name: str, number: int, way: Way) -> subprocess.Popen[bytes]:
        folders = ":".join(str(folder) for folder in (*way.folders, Path(sys.executable).parent))
        gate = [sys.executable, "-S", "-E", "-c", GATE, *way.argv(number)]
        return self._hosts.start(
            name,
            ["/bin/sh", "-c", f'{way.before}; cd /opt/ml/code; exec "$@"', "host", *gate],
            {
                "PATH": f"{folders}:/usr/sbin:/usr/bin:/sbin:/bin",
                "TRAINING_JOB_NAME": "job-1",
                "AWS_REGION": "eu-west-1",
                "OMP_NUM_THREADS": "1",
                **way.environment,
            },
        )

    def _kill(self) -> None:
        for name in self._hosts.names:
            self._hosts.kill(name)

    def _output(self, name: str) -> Path:
        return self._hosts.opt_ml(name) / "output"

    def _marks(self, start: float) -> dict[str, dict[int, float]]:
        marks: dict[str, dict[int, float]] = {}
        for name in self._hosts.names:
            for path in self._output(name).glob("mark-*-*"):
                _, place, rank = path.name.split("-")
                marks.setdefault(place, {})[int(rank)] = float(path.read_text()) - start
        return marks


_MARK = """
import os, time
_NOW = time.monotonic()

def mark(name, when=None):
    rank = os.environ.get("RANK") or os.environ["OMPI_COMM_WORLD_RANK"]
    with open(f"/opt/ml/output/new-{rank}", "w") as file:
        file.write(repr(when or time.monotonic()))
    os.rename(f"/opt/ml/output/new-{rank}", f"/opt/ml/output/mark-{name}-{rank}")

mark("first", _NOW)
"""


@contextmanager
def launcher_hosts(count: int = 2) -> Iterator[LauncherHosts]:
    """Make hosts ``algo-1``, ``algo-2``, …; they are gone at the end."""
    names = [f"algo-{number + 1}" for number in range(count)]
    with tempfile.TemporaryDirectory() as folder, NamespaceHosts(names, Path(folder), "bench-launcher") as hosts:
        yield LauncherHosts(hosts)


def launcher(kind: str, *options: str, processes: int = PROCESSES, **environment: str) -> Way:
    """This project's launcher."""
    words = ("--nproc-per-node", str(processes), *options, "--", SCRIPT)
    zip_file = "/opt/ml/input/data/launcher/0123abcd.zip"
    return Way(argv=lambda _: (sys.executable, "-u", zip_file, kind, *words), environment=environment)


def torchrun() -> Way:
    """PyTorch's torchrun, started by hand with what the launcher gives it."""
    return Way(
        argv=lambda number: (
            *(sys.executable, "-m", "torch.distributed.run", "--nnodes", "2", "--nproc-per-node", str(PROCESSES)),
            *("--max-restarts", "0", "--rdzv-id", "job-1", "--node-rank", str(number)),
            *("--master-addr", "algo-1", "--master-port", "7777", SCRIPT),
        ),
        environment={"GLOO_SOCKET_IFNAME": "eth0", "PYTHONUNBUFFERED": "1"},
    )


def zip_launcher(archive: Path) -> None:
    """Zip the launcher as the CDK publishes it, without byte code."""
    source = ROOT / "container" / "src"
    archive.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for path in sorted(source.rglob("*.py")):
            file.write(path, path.relative_to(source))
