"""One run of an image as SageMaker does it, under runc: the runtime below Docker."""

from __future__ import annotations

import json
import subprocess
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

DOCKER_CAPABILITIES = [
    *("CAP_AUDIT_WRITE", "CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL", "CAP_MKNOD"),
    *("CAP_NET_BIND_SERVICE", "CAP_NET_RAW", "CAP_SETFCAP", "CAP_SETGID", "CAP_SETPCAP", "CAP_SETUID"),
    "CAP_SYS_CHROOT",
]
"""What `docker run` leaves to a container's root."""


class Volume(NamedTuple):
    """A file or folder of this machine, seen in the container."""

    source: Path
    target: str
    options: str = "rw"


class Finished(NamedTuple):
    """How a container ended."""

    returncode: int
    stdout: str
    stderr: str


class Container:
    """A started container: namespaces of its own for processes, mounts, host name and network.

    Args:
        root: The image's files, from `ImageStore.root_file_system`.
        configuration: The image's OCI configuration; its entry point is what runs, as process 1.
        arguments: What stands behind the image in ``docker run IMAGE …``.
        directory: An empty folder for the runtime's files.
        volumes: What of this machine the container sees.
        environment: Variables over those of the image.
    """

    def __init__(
        self,
        *,
        root: Path,
        configuration: Mapping[str, Any],
        arguments: Sequence[str],
        directory: Path,
        volumes: Sequence[Volume],
        environment: Mapping[str, str],
    ) -> None:
        self.name = f"training-{uuid.uuid4().hex[:12]}"
        self._runc = ["runc", "--root", f"{directory}/runc"]
        (directory / "hosts").write_text("127.0.0.1 localhost algo-1\n")
        variables = {**dict(item.split("=", 1) for item in configuration["config"]["Env"]), **environment}
        specification = _specification(
            root=root,
            command=[*configuration["config"]["Entrypoint"], *arguments],
            working_directory=configuration["config"].get("WorkingDir") or "/",
            variables=variables,
            volumes=[Volume(directory / "hosts", "/etc/hosts", "ro"), *volumes],
        )
        (directory / "config.json").write_text(json.dumps(specification))
        self._process = subprocess.Popen(
            [*self._runc, "run", "--bundle", str(directory), self.name],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def stop(self) -> None:
        """What StopTrainingJob does first: SIGTERM to process 1, to no other."""
        subprocess.run([*self._runc, "kill", self.name, "TERM"], check=True)

    def first_process(self) -> int:
        """Process 1 of the container, as this machine numbers it."""
        state = subprocess.run([*self._runc, "state", self.name], check=True, capture_output=True, text=True)
        return int(json.loads(state.stdout)["pid"])

    def wait(self, seconds: float = 120) -> Finished:
        """Read the container's output to its end."""
        try:
            stdout, stderr = self._process.communicate(timeout=seconds)
        finally:
            self.remove()
        return Finished(self._process.returncode, stdout, stderr)

    def remove(self) -> None:
        """End whatever of it still runs; a container that is gone is no error."""
        subprocess.run([*self._runc, "delete", "--force", self.name], check=False, capture_output=True)


def _specification(
    *,
    root: Path,
    command: Sequence[str],
    working_directory: str,
    variables: Mapping[str, str],
    volumes: Sequence[Volume],
) -> dict[str, Any]:
    """A runtime bundle's config.json (https://github.com/opencontainers/runtime-spec/blob/main/config.md)."""
    temporary = {"type": "tmpfs", "source": "tmpfs"}
    return {
        "ociVersion": "1.0.2",
        "hostname": "algo-1",
        "root": {"path": str(root)},
        "process": {
            "args": list(command),
            "cwd": working_directory,
            "env": [f"{name}={value}" for name, value in variables.items()],
            "user": {"uid": 0, "gid": 0},
            "capabilities": dict.fromkeys(("bounding", "effective", "permitted"), DOCKER_CAPABILITIES),
        },
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            {"destination": "/dev", **temporary, "options": ["nosuid", "mode=755"]},
            {"destination": "/dev/shm", **temporary, "options": ["nosuid", "nodev", "mode=1777"]},
            {"destination": "/tmp", **temporary, "options": ["mode=1777"]},
            *(
                {"destination": target, "type": "bind", "source": str(source), "options": ["rbind", options]}
                for source, target, options in volumes
            ),
        ],
        "linux": {"namespaces": [{"type": kind} for kind in ("pid", "mount", "uts", "ipc", "network")]},
    }
