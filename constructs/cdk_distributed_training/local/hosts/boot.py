"""The shell scripts that turn a process into a switch or a host; text only, nothing is run here."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

# All hosts of a run share one bridge in a network namespace of its own, so two runs may use the same addresses.
NETWORK = "10.77"
PREFIX_LENGTH = 16

# Waits until the driver closes its end of the pipe or dies; then the kernel ends all processes of the namespace.
WAIT_FOR_THE_DRIVER = "exec cat >/dev/null"

# The shell stays outside of the new PID namespace and so can tell a killed PID 1 (128 + N) from one that exited;
# its own remark about the kill is no output of the container.
KEEP_THE_EXIT_CODE = 'exec 3>&2 2>/dev/null; (exec "$@" 2>&3 3>&-); exit $?'


@dataclass(frozen=True, kw_only=True)
class Bind:
    """A folder or file that a host sees at another place."""

    source: Path
    target: Path
    read_only: bool = False


def address(index: int) -> str:
    """IPv4 address of the host with this index (0-based); 10.77.0.11, 10.77.0.12, ..."""
    number = index + 11
    return f"{NETWORK}.{number // 256}.{number % 256}"


def etc_hosts(names: Iterable[str], own_name: str) -> str:
    """Content of /etc/hosts: every host by name, each on the bridge's network, the own one too."""
    lines = [f"{address(index)} {name}" for index, name in enumerate(names)]
    return "\n".join(["127.0.0.1 localhost", "::1 localhost ip6-localhost ip6-loopback", *lines, ""])


def switch_script(tools: Mapping[str, str], names: Iterable[str]) -> str:
    """Script of the process that holds the bridge and the hosts' network namespaces.

    It runs in its own mount namespace with a private /run, so nothing is visible on the machine and everything goes
    when its last process ends, however it ends.
    """
    ip, mount = tools["ip"], tools["mount"]
    lines = [
        "set -e",
        f"{mount} -t tmpfs tmpfs /run",
        f"{ip} link set lo up",
        f"{ip} link add br0 type bridge",
        f"{ip} link set br0 up",
    ]
    for index, name in enumerate(names):
        lines += [
            f"{ip} netns add {shlex.quote(name)}",
            f"{ip} link add {port(index)} type veth peer name eth0 netns {shlex.quote(name)}",
            f"{ip} link set {port(index)} master br0 up",
            f"{ip} -n {shlex.quote(name)} addr add {address(index)}/{PREFIX_LENGTH} dev eth0",
            f"{ip} -n {shlex.quote(name)} link set eth0 up",
            f"{ip} -n {shlex.quote(name)} link set lo up",
        ]
    return "\n".join([*lines, "echo ready", WAIT_FOR_THE_DRIVER])


def port(index: int) -> str:
    """Name of the bridge's end of a host's cable."""
    return f"port{index}"


def host_script(
    *, tools: Mapping[str, str], name: str, folder: Path, binds: Iterable[Bind], keep: Iterable[Path], scratch: Path
) -> str:
    """Script that PID 1 of a host runs before it becomes the container's entrypoint (its arguments).

    Args:
        tools: Absolute paths of the programs used.
        name: Host name.
        folder: Folder of the host's own files: `ml`, `tmp`, `hosts`, `environment`, `resolv.conf`.
        binds: What else the host sees, under /opt/ml.
        keep: Folders under /tmp that must stay visible although /tmp is private, such as a virtual environment.
        scratch: Empty folder for a rebuilt /opt, used where the machine has no /opt/ml.
    """
    mount = tools["mount"]

    def bind(source: Path, target: Path) -> str:
        return shlex.join([mount, "--bind", str(source), str(target)])

    lines = [
        "set -e",
        f"{mount} --make-rprivate /",
        f"{mount} -t proc proc /proc",
        shlex.join([tools["hostname"], name]),
        *(_rebuilt_opt(mount, scratch) if not Path("/opt/ml").is_dir() else []),
        bind(folder / "ml", Path("/opt/ml")),
    ]
    for item in binds:
        lines.append(bind(item.source, item.target))
        if item.read_only:
            options = ",".join(["remount", "bind", "ro", *_locked_options(item.source)])
            lines.append(shlex.join([mount, "-o", options, str(item.target)]))
    lines += [bind(folder / file, Path("/etc") / file) for file in ("hosts", "environment", "resolv.conf")
              if (Path("/etc") / file).exists()]  # fmt: skip
    lines.append(f"{mount} -t tmpfs tmpfs /dev/shm")
    lines += [bind(path, folder / "tmp" / path.relative_to("/tmp")) for path in keep]  # noqa: S108
    # last, since the folder of the host may itself lie under one of them
    lines.append(shlex.join([mount, "--rbind", str(folder / "tmp"), "/tmp"]))  # noqa: S108
    lines.append(f"{mount} -t tmpfs tmpfs /run")
    return "\n".join([*lines, "cd /opt/ml", 'exec "$@"'])


def _rebuilt_opt(mount: str, scratch: Path) -> list[str]:
    """Commands that give the host an /opt with everything in it and an `ml` besides, without touching the machine's."""
    lines = [f"{mount} -t tmpfs tmpfs {shlex.quote(str(scratch))}", f"mkdir {shlex.quote(str(scratch / 'ml'))}"]
    opt = Path("/opt")
    for item in sorted(opt.iterdir()) if opt.is_dir() else []:
        place = shlex.quote(str(scratch / item.name))
        source = shlex.quote(str(item))
        if item.is_symlink():
            lines.append(f"cp -P {source} {place}")
        else:
            lines.append(f"{'mkdir' if item.is_dir() else 'touch'} {place}")
            lines.append(f"{mount} --rbind {source} {place}")
    return [*lines, f"{mount} --rbind {shlex.quote(str(scratch))} /opt"]


def _locked_options(path: Path) -> list[str]:
    """Mount options that an ordinary user's namespace may not drop when it remounts; the kernel refuses otherwise."""
    flags = os.statvfs(path).f_flag
    names = {os.ST_NOSUID: "nosuid", 4: "nodev", 8: "noexec", 1024: "noatime", 2048: "nodiratime", 4096: "relatime"}
    return [name for flag, name in names.items() if flags & flag]
