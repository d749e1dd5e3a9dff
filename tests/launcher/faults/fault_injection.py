"""Make a fault happen in a real job, and see what becomes of the job."""

from __future__ import annotations

import re
import subprocess
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from fault_table import Row
from launcher_job import LauncherJob

from cdk_distributed_training.local.hosts import NamespaceHosts, boot

SCRIPT = (Path(__file__).parent / "fault_rank.py").read_text()
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "AKIAFAULTTABLE000001",
    "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYFAULTTABLE",
    "AWS_SESSION_TOKEN": "FwoGZXIvYXdzEFAULTTABLE",
    "WANDB_API_KEY": "0123456789abcdeffaulttable",
}
TOKEN = "hf_faulttablefaulttable"
SMALL_DISK = "small-disk"
MEMORY = 256 << 20
TORCH_MEMORY = 1600 << 20


class Result(NamedTuple):
    """What became of the job."""

    codes: dict[str, int]
    failures: dict[str, str]
    outputs: dict[str, str]
    seconds: float
    """From the fault to the end of the last host's container."""
    leaks: list[str]
    """Where a credential was found."""
    left: list[str]
    """Files that the launcher or mpirun has left, and processes."""


def run_row(job: LauncherJob, row: Row) -> Result:
    """Run the job of a row to its end."""
    fault, place = row.fault, row.place
    others = [name for name in job.names if name != place.host]
    missing = fault.name == "missing-script"
    job.source(*(others if missing else job.names), train__py=SCRIPT)
    if missing:
        job.source(place.host, other__py="")
        _remove_script(job, place.host)
    job.write_config("hyperparameters.json", {"hf_token": TOKEN})
    if fault.name == "name-missing":
        _hide_name(job, place.host, others[-1])
    arguments = [
        row.kind,
        *(("--mpi4py", "never") if row.kind == "mpirun" else ()),
        "--nproc-per-node",
        "1" if fault.of_host else "2",
        *fault.options,
        "--",
        "train.py",
        fault.name,
        "-1" if fault.of_host else str(place.rank),
        *(("--collective",) if row.collective else ()),
    ]
    with _surroundings(job, row):
        began = time.monotonic()
        job.start(*arguments, environment=CREDENTIALS)
        if fault.name in ("node-killed", "link-dropped"):
            job.until(lambda: all("] training" in job.output(name) for name in job.names), 120)
            time.sleep(0.5)
            began = time.monotonic()
            job.hosts.kill(place.host) if fault.name == "node-killed" else job.hosts.drop_link(place.host)
        ended = _ends(job)
        outcomes = job.wait()
        failures = {name: _failure(job, name) for name in job.names}
    outputs = {name: outcome.text for name, outcome in outcomes.items()}
    told = re.search(r"\] fault at ([\d.]+)", "\n".join(outputs.values()))
    return Result(
        codes={name: outcome.code for name, outcome in outcomes.items()},
        failures=failures,
        outputs=outputs,
        seconds=ended - (float(told[1]) if told else began),
        leaks=_leaks(job, outputs),
        left=_left(job),
    )


def _ends(job: LauncherJob) -> float:
    """When the last container has ended."""
    limit = time.monotonic() + 150
    while any(process.poll() is None for process in job._processes.values()):
        assert time.monotonic() < limit, "\n".join(job.output(name) for name in job.names)
        time.sleep(0.01)
    return time.monotonic()


def _remove_script(job: LauncherJob, host: str) -> None:
    """`source` adds to one folder; this host's archive is made of the other file alone."""
    with zipfile.ZipFile(job.opt_ml(host) / "input/data/code/4567cdef.zip", "w") as archive:
        archive.writestr("other.py", "")


def _hide_name(job: LauncherJob, host: str, hidden: str) -> None:
    path = job.hosts.root / host / "hosts"
    path.write_text("".join(line for line in path.read_text().splitlines(keepends=True) if hidden not in line))


@contextmanager
def _surroundings(job: LauncherJob, row: Row) -> Iterator[None]:
    """A container with little memory or a small disk, where the fault is about that."""
    if row.fault.name == "disk-full":
        _make_small_disk(job.hosts, row.place.host)
        yield
    elif row.fault.name == "out-of-memory":
        with _small_memory(TORCH_MEMORY if row.collective else MEMORY) as enter:
            _wrap(job, row.place.host, enter)
            yield
    else:
        yield


def _make_small_disk(hosts: NamespaceHosts, host: str) -> None:
    """As /opt/ml/output; made outside of the host, so that its files can be read after the host's end."""
    disk = hosts.root / host / SMALL_DISK
    disk.mkdir()
    hosts._inside(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)])
    hosts._binds[host].append(boot.Bind(source=disk, target=Path("/opt/ml/output")))


def _wrap(job: LauncherJob, host: str, script: str) -> None:
    start: Callable[..., subprocess.Popen[bytes]] = job.hosts.start

    def wrapped(name: str, argv: list[str], env: dict[str, str]) -> subprocess.Popen[bytes]:
        words = ["/bin/sh", "-c", f'{script}; exec "$@"', "sh", *argv] if name == host else argv
        return start(name, words, env)

    job.hosts.start = wrapped  # type: ignore[method-assign,assignment]


@contextmanager
def _small_memory(limit: int) -> Iterator[str]:
    """A control group with a limit; yields what a host runs to be in it, seeing it as a container sees its own."""
    first_version = Path("/sys/fs/cgroup/memory").is_dir()
    root = Path("/sys/fs/cgroup/memory" if first_version else "/sys/fs/cgroup")
    group = root / f"fault-table-{time.monotonic_ns()}"
    group.mkdir()
    (group / ("memory.limit_in_bytes" if first_version else "memory.max")).write_text(str(limit))
    kind, seen = ("cgroup -o memory", "/sys/fs/cgroup/memory") if first_version else ("cgroup2", "/sys/fs/cgroup")
    try:
        yield (
            f"set -e; mkdir /run/groups; mount -t {kind} cgroup /run/groups; "
            f"mount -t tmpfs tmpfs /sys/fs/cgroup; mkdir -p {seen}; mount --bind /run/groups/{group.name} {seen}; "
            f"echo $$ > {seen}/cgroup.procs"
        )
    finally:
        group.rmdir()


def _failure(job: LauncherJob, host: str) -> str:
    disk = job.hosts.root / host / SMALL_DISK
    if disk.exists():
        return job.hosts._inside(["cat", str(disk / "failure")])
    path = job.opt_ml(host) / "output/failure"
    return path.read_bytes().decode("utf-8", "strict") if path.exists() else ""


def _leaks(job: LauncherJob, outputs: dict[str, str]) -> list[str]:
    secrets = [*CREDENTIALS.values(), TOKEN]
    places = {f"output of {name}": text for name, text in outputs.items()}
    places.update((f"failure file of {name}", _failure(job, name)) for name in job.names)
    for path in job.hosts.root.rglob("*"):
        if path.is_file() and not path.is_symlink() and path.name != "hyperparameters.json":
            places[str(path)] = path.read_bytes().decode(errors="replace")
    return [place for place, text in places.items() if any(secret in text for secret in secrets)]


def _left(job: LauncherJob) -> list[str]:
    left = [str(path) for name in job.names for pattern in ("training-launcher-*", "ompi.*")
            for path in (job.hosts.root / name / "tmp").glob(pattern)]  # fmt: skip
    left += [str(path) for name in job.names for path in (job.opt_ml(name) / "output").glob(".*")]
    return left + [f"PID 1 of {name}" for name in job.names if job.hosts.init_pid(name) is not None]
