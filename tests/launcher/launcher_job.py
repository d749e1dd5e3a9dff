"""A training job on hosts of this machine: the launcher's zip as PID 1 of each, as the job's entry point starts it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cdk_distributed_training.local.hosts import NamespaceHosts

SOURCE = Path(__file__).resolve().parents[2] / "container" / "src"


class Outcome(NamedTuple):
    """How a host's container ended."""

    code: int
    output: bytes
    failure: str | None

    @property
    def text(self) -> str:
        return self.output.decode(errors="replace")

    def lines_of(self, label: str) -> list[str]:
        """Lines with a label such as `rank 3`, without it."""
        found = re.findall(rf"^\[\S+ {label}\] (.*)$", self.text, re.MULTILINE)
        return [str(line) for line in found]


def zip_folder(folder: Path, archive: Path) -> None:
    """As the CDK publishes an asset."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(archive, "w") as file:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                file.write(path, path.relative_to(folder))


class LauncherJob:
    """The hosts with their /opt/ml; the launcher is started by `start`, its ends are collected by `wait`."""

    def __init__(self, hosts: NamespaceHosts, scratch: Path) -> None:
        self.hosts = hosts
        self.names = hosts.names
        self._scratch = scratch
        self._outputs: dict[str, bytearray] = {}
        self._readers: dict[str, threading.Thread] = {}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self.path = f"{Path(sys.executable).parent}:/usr/sbin:/usr/bin:/sbin:/bin"
        self.configure()
        for name in self.names:
            zip_folder(SOURCE, self.opt_ml(name) / "input/data/launcher/0123abcd.zip")

    def opt_ml(self, host: str) -> Path:
        return self.hosts.opt_ml(host)

    def configure(self, **resource_config: object) -> None:
        """Write resourceconfig.json; hosts in the service's order, which is not ours."""
        for name in self.names:
            content = {
                "current_host": name,
                "hosts": sorted(self.names),
                "network_interface_name": "eth0",
                "current_instance_type": "ml.c5.xlarge",
                "current_group_name": "homogeneousCluster",
                **resource_config,
            }
            self.write_config("resourceconfig.json", content, name)

    def write_config(self, file: str, content: object, *hosts: str) -> None:
        for name in hosts or self.names:
            text = content if isinstance(content, str) else json.dumps(content)
            (self.opt_ml(name) / "input/config" / file).write_text(text)

    def source(self, *hosts: str, **files: str) -> None:
        """The user's code, as the `code` channel; a double underscore in a keyword is a dot."""
        folder = self._scratch / "code"
        folder.mkdir(exist_ok=True)
        for name, text in files.items():
            path = folder / name.replace("___", "/").replace("__", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        for name in hosts or self.names:
            zip_folder(folder, self.opt_ml(name) / "input/data/code/4567cdef.zip")

    def start(self, *arguments: str, hosts: Sequence[str] = (), environment: Mapping[str, str] | None = None) -> None:
        """Start the container on the hosts, all of them by default."""
        for name in hosts or self.names:
            process = self.hosts.start(
                name,
                [sys.executable, "-u", "/opt/ml/input/data/launcher/0123abcd.zip", *arguments],
                {
                    "PATH": self.path,
                    "TRAINING_JOB_NAME": "job-1",
                    "AWS_REGION": "eu-west-1",
                    **(environment or {}),
                },
            )
            self._processes[name] = process
            self._outputs[name] = bytearray()
            self._readers[name] = threading.Thread(target=self._read, args=(name, process), daemon=True)
            self._readers[name].start()

    def _read(self, name: str, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout
        while data := process.stdout.read1(1 << 16):
            self._outputs[name] += data

    def output(self, host: str) -> str:
        return self._outputs[host].decode(errors="replace")

    def until(self, condition: Callable[[], bool], seconds: float = 60) -> None:
        """Wait until something is so."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise AssertionError("not so in time:\n" + "\n".join(self.output(name) for name in self._outputs))
            time.sleep(0.02)

    def until_said(self, text: str, *hosts: str, seconds: float = 60) -> None:
        """Wait until each host's output holds a text."""
        self.until(lambda: all(text in self.output(name) for name in hosts or self._outputs), seconds)

    def wait(self, seconds: float = 60) -> dict[str, Outcome]:
        """Wait for every host's end."""
        outcomes = {}
        for name, process in self._processes.items():
            try:
                code = process.wait(seconds)
            except subprocess.TimeoutExpired as error:
                raise AssertionError(f"{name} does not end:\n{self.output(name)}") from error
            self._readers[name].join(10)
            failure = self.opt_ml(name) / "output/failure"
            text = failure.read_text() if failure.exists() else None
            outcomes[name] = Outcome(code, bytes(self._outputs[name]), text)
        return outcomes

    def run(self, *arguments: str, environment: Mapping[str, str] | None = None) -> dict[str, Outcome]:
        """Start and wait."""
        self.start(*arguments, environment=environment)
        return self.wait()
