"""What can go wrong in a job: one table that the tests and docs/faults.md come from."""

from __future__ import annotations

from typing import NamedTuple

SILENT_TIMEOUT, NAME_TIMEOUT = 2.0, 1.0
HANG_TIMEOUT = 8.0  # a rank that only loads torch, on a busy machine, must not count as silent
KINDS = ("mpirun", "torchrun")


class Place(NamedTuple):
    """Where it happens. Faults of a rank: two hosts with two ranks; faults of a host: three hosts with one rank."""

    name: str
    host: str
    rank: int
    local: int = 0


RANKS = (
    Place("first rank", "algo-1", 0, 0),
    Place("middle rank", "algo-1", 1, 1),
    Place("rank on another host", "algo-2", 3, 1),
)
HOSTS = (Place("first host", "algo-1", 0), Place("middle host", "algo-2", 1), Place("last host", "algo-3", 2))


class Fault(NamedTuple):
    """One kind of fault, and what the launcher must make of it."""

    name: str
    what: str
    first_line: str
    """Pattern of the failure file's first line; `{host}`, `{rank}` and `{where}` are the place's."""
    code: int
    ci: tuple[str, str]
    """Place and kind of the row that the ordinary tests run."""
    places: tuple[Place, ...] = RANKS
    bound: float = 10.0
    """Seconds from the fault until all hosts must have ended."""
    collective: bool = False
    """Whether it needs a collective under mpirun too; under torchrun all rows have one."""
    options: tuple[str, ...] = ()

    @property
    def of_host(self) -> bool:
        """Whether it happens to a host and not to a rank."""
        return self.places is HOSTS


HANG = ("--hang-timeout", str(HANG_TIMEOUT))

FAULTS = (
    Fault("exception", "an exception with a chained cause",
          r"exception \| {where} \| exit code 1 \| RuntimeError: no learning rate for this step "
          r"\(caused by KeyError: 'learning_rate'\)", 1, ("rank on another host", "torchrun")),
    Fault("exit", "`sys.exit(3)`", r"exit \| {where} \| exit code 3 \| last line: fault at .*", 3,
          ("first rank", "mpirun")),
    Fault("sigkill", "SIGKILL", r"signal \| {where} \| signal SIGKILL \| killed from outside", 137,
          ("middle rank", "torchrun")),
    Fault("sigsegv", "a segmentation fault in C",
          r"signal \| {where} \| signal SIGSEGV \| segmentation fault: Fatal Python error: Segmentation fault.*", 139,
          ("rank on another host", "mpirun")),
    Fault("sigabrt", "`abort()`",
          r"signal \| {where} \| signal SIGABRT \| aborted itself: Fatal Python error: Aborted.*", 134,
          ("middle rank", "mpirun")),
    Fault("out-of-memory", "more memory than the container has",
          r"out of memory \| {where} \| signal SIGKILL \| the host ran out of memory", 137,
          ("rank on another host", "mpirun")),
    Fault("sigstop", "SIGSTOP: the process stands still",
          r"hang \| {where} \| silent for \d s \| its process is stopped .*", 124, ("rank on another host", "mpirun"),
          bound=HANG_TIMEOUT + 10, options=HANG),
    Fault("deadlock", "a rank that leaves out a collective",
          r"hang \| {where} \| silent for \d s \| at .*train\.py:\d+ in wait_elsewhere; ranks .* wait in a collective",
          124, ("middle rank", "mpirun"), bound=HANG_TIMEOUT + 10, collective=True, options=HANG),
    Fault("import-error", "a module that is not installed",
          r"exception \| {where} \| exit code 1 \| ModuleNotFoundError: No module named 'no_such_module'", 1,
          ("first rank", "mpirun")),
    Fault("bad-argument", "an argument that the script does not know",
          r"exit \| {where} \| exit code 2 \| last line: .*error: unrecognized arguments: --learning-rte 0.1", 2,
          ("rank on another host", "mpirun")),
    Fault("disk-full", "no room left under /opt/ml/output",
          r"exception \| {where} \| exit code 1 \| OSError: \[Errno 28\] No space left on device", 1,
          ("rank on another host", "mpirun")),
    Fault("own-words", "the script writes a failure file of its own",
          r"exit \| {where} \| exit code 4 \| last line: fault at .*", 4, ("rank on another host", "mpirun")),
    Fault("missing-script", "the entry script is not there",
          r"bad input \| host {host} \| exit code 2 \| entry script train\.py is not in /opt/ml/code, .*", 2,
          ("middle host", "mpirun"), places=HOSTS),
    Fault("name-missing", "a host's name does not resolve on another one",
          r"name not found \| host {host} \| exit code 3 \| host name \S+ did not resolve .*", 3,
          ("last host", "mpirun"), places=HOSTS, bound=NAME_TIMEOUT + 10,
          options=("--name-timeout", str(NAME_TIMEOUT))),
    Fault("node-killed", "a host's container is killed",
          r"host lost \| host {host} \| no exit code \| it closed the connection.*", 1, ("last host", "torchrun"),
          places=HOSTS),
    Fault("link-dropped", "a host's cable is pulled",
          r"host lost \| host {host} \| no exit code \| nothing heard of it.*", 1, ("first host", "mpirun"),
          places=HOSTS, bound=SILENT_TIMEOUT + 10, options=("--silent-timeout", str(SILENT_TIMEOUT))),
)  # fmt: skip


class Row(NamedTuple):
    """A fault at a place under a launch kind."""

    fault: Fault
    place: Place
    kind: str

    @property
    def id(self) -> str:
        return f"{self.fault.name}-{self.place.name.replace(' ', '_')}-{self.kind}"

    @property
    def collective(self) -> bool:
        return self.kind == "torchrun" or self.fault.collective

    @property
    def first_line(self) -> str:
        place = self.place
        where = rf"host {place.host} rank {place.rank} \(local rank {place.local}\)"
        return self.fault.first_line.replace("{where}", where).replace("{host}", place.host)


def rows(*, whole: bool) -> list[Row]:
    """The whole table, or one row of each fault."""
    every = [Row(fault, place, kind) for fault in FAULTS for place in fault.places for kind in KINDS]
    return [row for row in every if whole or (row.place.name, row.kind) == row.fault.ci]
