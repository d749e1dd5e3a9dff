"""`make bench`: run every `bench_*.py` beside this file, print one table, and write it as JSON."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.row import Row

HERE = Path(__file__).parent


def main() -> int:
    """Run the benchmarks whose names are given, or all; exit with 1 when a bar is not held."""
    names = sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"benchmarks to run (default: all of {', '.join(names)})")
    parser.add_argument("--json", type=Path, default=HERE.parent / "build" / "benchmarks.json", help="where to write")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(names)
    if unknown:
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    console = Console()
    rows: list[Row] = []
    for name in arguments.names or names:
        console.print(f"measuring {name} ...", style="dim")
        rows += importlib.import_module(f"benchmarks.bench_{name}").rows()
    table = Table("what", "ours", "other", "unit", "ratio", "bar", "held", "against")
    for row in rows:
        held = {True: "yes", False: "NO", None: ""}[row.held]
        bar = "" if row.bar is None else f"{row.bar:.2f}"
        table.add_row(
            row.what, f"{row.ours:.3g}", f"{row.other:.3g}", row.unit, f"{row.ratio:.3f}", bar, held, row.against
        )
    console.print(table)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps([row.as_json() for row in rows], indent=1) + "\n")
    console.print(f"also as JSON in {arguments.json}")
    return int(any(row.held is False for row in rows))


if __name__ == "__main__":
    sys.exit(main())
