"""docs/faults.md, from what the rows of the fault table have become."""

from __future__ import annotations

import os
import platform
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from fault_table import HANG_TIMEOUT, NAME_TIMEOUT, SILENT_TIMEOUT, Row

HEAD = f"""# What happens when something goes wrong

<!-- written by `make faults`; do not edit -->
Each row is a real job on hosts of one machine, Linux network namespaces with their own processes, host name, `/opt/ml`
and cable: two hosts with two ranks for what happens to a rank, three with one for what happens to a host. Under
torchrun the ranks are inside of gloo's `all_reduce` when it happens; under mpirun they wait, except in the deadlock.

In each row the launcher must: end **every** host with the same exit code, that of the rank at fault; write one and the
same failure file on every host, valid UTF-8 of at most 1,024 characters, whose first line names the rank at fault and
not one of its victims; leave a failure file alone that the script has written; write no credential to any file or log;
leave no file and no process. A host that is cut off can only tell of itself. "After" is from the fault to the end of
the last container, and at most 10 s for a crash. It includes `--hang-timeout {HANG_TIMEOUT:g}`,
`--silent-timeout {SILENT_TIMEOUT:g}` and `--name-timeout {NAME_TIMEOUT:g}` where a row is about those, and the whole
run where nothing is started. The fault "out of memory" is the kernel's own kill in a memory control group.
"""


class Line(NamedTuple):
    """A row and what has become of it."""

    row: Row
    first_line: str
    seconds: float
    code: int
    problems: Sequence[str]


def write_report(path: Path, lines: Sequence[Line]) -> None:
    """Write the page."""
    machine = f"{platform.system()} {platform.release()}, {os.cpu_count()} cores"
    text = [HEAD, f"Run on {machine}; times are as measured there, once.\n"]
    text += ["| fault | where | kind | first line of the failure file | code | after | verdict |"]
    text += ["|---|---|---|---|---|---|---|"]
    for line in lines:
        shown = line.first_line.replace(sysconfig.get_path("stdlib"), "…").replace("|", "\\|")
        verdict = "right" if not line.problems else "WRONG: " + "; ".join(line.problems).replace("|", "\\|")
        text.append(
            f"| {line.row.fault.what} | {line.row.place.name} | {line.row.kind} | {_shorten(shown)} | {line.code} "
            f"| {line.seconds:.1f} s | {verdict} |"
        )
    good = sum(not line.problems for line in lines)
    text += ["", f"{good} of {len(lines)} rows are right."]
    path.write_text("\n".join(text) + "\n")


def _shorten(text: str) -> str:
    return text if len(text) <= 240 else text[:239] + "…"
