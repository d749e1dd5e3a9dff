"""The fault table, injected for real: one row of each fault here; `make faults` runs all and writes docs/faults.md."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fault_injection import Result, run_row
from fault_report import Line, write_report
from fault_table import FAULTS, Row, rows
from launcher_job import LauncherJob

WHOLE = os.environ.get("FAULT_TABLE") == "whole"
REPORT = Path(__file__).resolve().parents[3] / "docs/faults.md"


@pytest.fixture(scope="module")
def lines() -> Iterator[list[Line]]:
    """What the rows have become."""
    found: list[Line] = []
    yield found
    if WHOLE:
        write_report(REPORT, found)


def test_each_fault_has_a_row_here() -> None:
    """A name in a column `ci` that is no place would drop a fault without a word."""
    assert [row.fault for row in rows(whole=False)] == list(FAULTS)


@pytest.mark.timeout(240)
@pytest.mark.parametrize("row", rows(whole=WHOLE), ids=lambda row: row.id)
def test_row(row: Row, make_job: Callable[..., LauncherJob], lines: list[Line]) -> None:
    """One cause, one code, one text on all hosts, in time, and nothing left."""
    result = run_row(make_job(3 if row.fault.of_host else 2), row)
    first_line = result.failures[_witness(row)].split("\n", 1)[0]
    problems = list(_problems(row, result))
    lines.append(Line(row, first_line, result.seconds, result.codes[_witness(row)], problems))
    assert not problems, "\n".join([*problems, *result.outputs.values()])


def _witness(row: Row) -> str:
    """The leader, unless it is the one that has died or has words of its own: a host that tells the launcher's view."""
    other = row.fault.name in ("node-killed", "link-dropped", "own-words") and row.place.host == "algo-1"
    return "algo-2" if other else "algo-1"


def _problems(row: Row, result: Result) -> Iterator[str]:
    fault, place = row.fault, row.place
    # what is cut off from the others can only tell of itself
    cut_off = fault.name in ("node-killed", "link-dropped")
    hosts = [host for host in result.codes if not (cut_off and host == place.host)]
    own_words = "the script's own words"
    for host in hosts:
        if result.codes[host] != fault.code:
            yield f"{host} ended with {result.codes[host]} instead of {fault.code}"
        text = result.failures[host]
        if fault.name == "own-words" and host == place.host:
            if text != own_words:
                yield f"the script's failure file became {text!r}"
            continue
        if not re.fullmatch(row.first_line, text.split("\n", 1)[0]):
            yield f"failure file of {host} begins with {text.splitlines()[:1]}, expected {row.first_line}"
        if len(text) > 1024:
            yield f"failure file of {host} has {len(text)} characters"
        if text != result.failures[_witness(row)]:
            yield f"{host} and {_witness(row)} tell different causes"
    if result.seconds > fault.bound:
        yield f"all hosts ended {result.seconds:.1f} s after the fault; the bound is {fault.bound:g} s"
    yield from (f"a credential is in {place}" for place in result.leaks)
    if not cut_off:
        yield from (f"left: {path}" for path in result.left)
