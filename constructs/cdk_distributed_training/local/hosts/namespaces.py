"""Hosts made of Linux namespaces: own network, host name, processes, mounts, /tmp, /dev/shm and /opt/ml.

Everything lives below one `switch` process with its own PID and mount namespace, which ends when this process closes
the pipe to it or dies, even by SIGKILL; the kernel then ends all hosts and drops their networks. Nothing is named on
the machine itself: no entry in /run/netns, no file in /etc. As root or, through a user namespace, as an ordinary user.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import signal
import site
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from cdk_distributed_training.local.hosts import boot
from cdk_distributed_training.local.hosts.base import Hosts, HostsUnavailableError

TOOLS = ("ip", "unshare", "nsenter", "setpriv", "mount", "hostname", "sh")
BOOT_PATIENCE = 10.0  # seconds
_SYSTEM_FOLDERS = "/usr/sbin:/usr/bin:/sbin:/bin"
_HELP = "run as root or allow user namespaces; --hosts loopback needs no rights"


class NamespaceHosts(Hosts):
    """Several real network hosts on this machine; see `Hosts` for what they can do.

    Args:
        names: Host names, resolvable on every host.
        root: Folder for the hosts' files.
        run_id: Shown in the process list.

    Raises:
        HostsUnavailableError: The system is not Linux, a program is missing or the rights do not suffice.
    """

    kind = "namespaces"

    def __init__(self, names: Sequence[str], root: Path, run_id: str) -> None:
        """Make the networks; the hosts run nothing yet."""
        self._tools = _tools()
        super().__init__(names, root, run_id)
        self._binds: dict[str, list[boot.Bind]] = {name: [] for name in self.names}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        for name in self.names:
            self._write_files(name)
        self._as_user = os.geteuid() != 0
        user = ["--user", "--map-root-user"] if self._as_user else []
        self._switch = subprocess.Popen(
            [self._tools["unshare"], *user, "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc",
             "--propagation", "private", self._tools["sh"], "-c", boot.switch_script(self._tools, self.names),
             f"dtrain-hosts-{run_id}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
            env={"PATH": _SYSTEM_FOLDERS},
        )  # fmt: skip
        assert self._switch.stdout is not None and self._switch.stderr is not None  # noqa: S101, PT018  pipes asked for
        if self._switch.stdout.readline() != b"ready\n":
            text = self._switch.stderr.read().decode(errors="replace").strip()
            self.close()
            raise HostsUnavailableError(f"no rights to make network namespaces ({_last_line(text)}): {_HELP}")

    @property
    def interface(self) -> str:
        """`eth0`, as on SageMaker."""
        return "eth0"

    def environment(self, host: str) -> dict[str, str]:
        """Only a home folder of the host's own: /opt/ml and the hosts' names are real here."""
        self._known(host)
        return {"HOME": "/tmp"}  # noqa: S108  private to the host

    @property
    def own_places(self) -> tuple[str, ...]:
        """Its /tmp is its own too."""
        return (*super().own_places, "/tmp")  # noqa: S108  private to the host

    def own_path(self, host: str, path: Path) -> Path | None:
        """In /opt/ml or /tmp."""
        if Path("/tmp") in path.parents:  # noqa: S108
            return self.root / host / "tmp" / path.relative_to("/tmp")  # noqa: S108
        return super().own_path(host, path)

    def share(self, host: str, source: Path, target: str, *, writable: bool = False) -> None:
        """Mount a folder at `<opt_ml>/<target>`, read-only unless the host may write."""
        (self.opt_ml(host) / target).mkdir(parents=True, exist_ok=True)
        place = Path("/opt/ml") / target
        self._binds[host].append(boot.Bind(source=source.resolve(), target=place, read_only=not writable))

    def start(self, host: str, argv: Sequence[str], env: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """Run the entrypoint as PID 1 of the host."""
        self._known(host)
        running = self._processes.get(host)
        if running is not None and running.poll() is None:
            raise RuntimeError(f"{host} is already running")
        folder = self.root / host
        keep = _kept_folders()
        for path in keep:
            (folder / "tmp" / path.relative_to("/tmp")).mkdir(parents=True, exist_ok=True)  # noqa: S108
        script = boot.host_script(
            tools=self._tools, name=host, folder=folder, binds=self._binds[host], keep=keep, scratch=folder / "opt"
        )
        tools = self._tools
        process = subprocess.Popen(
            [*self._enter(), tools["setpriv"], "--pdeathsig", "KILL",
             tools["ip"], "netns", "exec", host, tools["unshare"], "--uts", "--mount", "--ipc", "--pid",
             tools["sh"], "-c", boot.KEEP_THE_EXIT_CODE, f"dtrain-{self.run_id}-{host}",
             tools["setpriv"], "--pdeathsig", "KILL", tools["sh"], "-c", script, "boot", *argv],
            env={**self.environment(host), **env}, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        self._processes[host] = process
        return process

    def init_pid(self, host: str) -> int | None:
        """The process id, on this machine, of the host's PID 1; None if the host runs nothing."""
        self._known(host)
        process = self._processes.get(host)
        if process is None or process.poll() is not None:
            return None
        for shell in _children(process.pid):
            for pid in _children(shell):
                if _status(pid).get("NSpid", "").split()[-1:] == ["1"]:
                    return pid
        return None

    def signal(self, host: str, signum: int) -> bool:
        """Send a signal to PID 1 of the host."""
        pid = self.init_pid(host)
        if pid is None:
            return False
        os.kill(pid, signum)
        return True

    def listens(self, host: str, signum: int) -> bool:
        """Whether PID 1 of the host catches the signal."""
        pid = self.init_pid(host)
        caught = _status(pid).get("SigCgt", "0") if pid is not None else "0"
        return bool(int(caught, 16) >> (signum - 1) & 1)

    def kill(self, host: str) -> None:
        """Kill PID 1 of the host; the kernel takes its other processes along."""
        self._known(host)
        process = self._processes.get(host)
        deadline = time.monotonic() + BOOT_PATIENCE
        # a host that was started just now has no PID 1 for some milliseconds
        while process is not None and process.poll() is None and not self.signal(host, signal.SIGKILL):
            if time.monotonic() > deadline:
                process.kill()
            time.sleep(0.005)

    def shape(self, host: str, rate: str | None) -> None:
        """Limit the host's link in both directions, e.g. `200mbit`; None lifts the limit (needs the kernel's tbf)."""
        index = self._index(host)
        for where, device in ((["-n", host], "eth0"), ([], boot.port(index))):
            tbf = ["replace", "dev", device, "root", "tbf", "rate", rate, "burst", "256kb", "latency", "50ms"]
            command = [self._tool("tc"), *where, "qdisc"]
            self._inside([*command, *(tbf if rate else ["del", "dev", device, "root"])])

    def transmitted_bytes(self, host: str) -> int:
        """Bytes that the host has put on its link since it exists."""
        self._known(host)
        answer = self._inside([self._tools["ip"], "-n", host, "-s", "-j", "link", "show", "dev", "eth0"])
        return int(json.loads(answer)[0]["stats64"]["tx"]["bytes"])

    def drop_link(self, host: str) -> None:
        """Pull the host's cable: its packets vanish and nobody is told."""
        self._inside([self._tools["ip"], "link", "set", boot.port(self._index(host)), "down"])

    def restore_link(self, host: str) -> None:
        """Put the host's cable back."""
        self._inside([self._tools["ip"], "link", "set", boot.port(self._index(host)), "up"])

    def close(self) -> None:
        """End the switch process and with it all hosts; then remove the hosts' scratch files."""
        if self._switch.stdin is not None:
            self._switch.stdin.close()
        try:
            self._switch.wait(10)
        except subprocess.TimeoutExpired:
            self._switch.kill()
            self._switch.wait()
        for process in self._processes.values():
            process.wait()
        for stream in (self._switch.stdout, self._switch.stderr):
            if stream is not None:
                stream.close()
        for name in self.names:
            for scratch in ("tmp", "opt", "home"):
                shutil.rmtree(self.root / name / scratch, ignore_errors=True)
            for file in ("hosts", "environment", "resolv.conf"):
                (self.root / name / file).unlink(missing_ok=True)

    def _index(self, host: str) -> int:
        self._known(host)
        return self.names.index(host)

    def _write_files(self, name: str) -> None:
        folder = self.root / name
        for scratch in ("tmp", "opt"):
            (folder / scratch).mkdir(parents=True, exist_ok=True)
        (folder / "tmp").chmod(0o1777)
        (folder / "hosts").write_text(boot.etc_hosts(self.names, name))
        # Unknown names must fail at once: the hosts have no way out, and the machine's own name server is out there.
        (folder / "resolv.conf").write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
        # Private, since SageMaker's toolkits append the whole environment, credentials too, to this file.
        (folder / "environment").write_text("")

    def _enter(self) -> list[str]:
        holder = _children(self._switch.pid)
        if not holder:
            raise HostsUnavailableError("the hosts are closed")
        user = ["--user", "--preserve-credentials"] if self._as_user else []
        return [self._tools["nsenter"], "--target", str(holder[0]), *user, "--mount", "--net", "--pid"]

    def _inside(self, command: list[str]) -> str:
        result = subprocess.run([*self._enter(), *command], check=False, capture_output=True, text=True)
        if result.returncode:
            raise HostsUnavailableError(f"{command[0]}: {result.stderr.strip()}")
        return result.stdout

    def _tool(self, name: str) -> str:
        return _find(name) or _missing([name])


@functools.cache
def available() -> str:
    """Why this machine cannot make namespace hosts; the empty text if it can. Tries it for real, in about 0.1 s."""
    with tempfile.TemporaryDirectory(prefix="dtrain-probe-") as folder:
        try:
            with NamespaceHosts(["probe"], Path(folder), "probe") as hosts:
                process = hosts.start("probe", [hosts._tools["sh"], "-c", "exit 0"], {"PATH": _SYSTEM_FOLDERS})
                text = process.communicate(timeout=30)[0].decode(errors="replace").strip()
                return f"a host did not start ({_last_line(text)}): {_HELP}" if process.returncode else ""
        except HostsUnavailableError as error:
            return str(error)


def _tools() -> dict[str, str]:
    if sys.platform != "linux":
        raise HostsUnavailableError(f"network namespaces exist on Linux only, and this is {sys.platform}")
    tools = {name: _find(name) for name in TOOLS}
    missing = [name for name, path in tools.items() if path is None]
    if missing:
        _missing(missing)
    return {name: path for name, path in tools.items() if path is not None}


def _missing(names: list[str]) -> str:
    raise HostsUnavailableError(
        f"not found: {', '.join(names)}; install iproute2 and util-linux (Debian: apt-get install iproute2 util-linux)"
    )


def _find(name: str) -> str | None:
    # an ordinary user's PATH often lacks the folders of the administration programs
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:{_SYSTEM_FOLDERS}")


def _kept_folders() -> list[Path]:
    """Folders under /tmp that Python itself needs; a private /tmp would hide them."""
    entries = [*sys.path, sys.prefix, sys.base_prefix, site.getuserbase()]
    candidates = {Path(entry).resolve() for entry in entries if entry}
    # the order of the two questions matters: a folder elsewhere may be one that this user cannot even look at
    under_tmp = sorted(path for path in candidates if Path("/tmp") in path.parents and path.is_dir())  # noqa: S108
    return [path for path in under_tmp if not any(other in path.parents for other in under_tmp)]


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


def _status(pid: int) -> dict[str, str]:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return {}
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}


def _last_line(text: str) -> str:
    return text.splitlines()[-1] if text else "no message"
