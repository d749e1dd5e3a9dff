"""What the launcher itself takes on every host: modules, CPU time to import, memory."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.launcher_hosts import ROOT, zip_launcher
from benchmarks.row import Row, row_of
from benchmarks.sagemaker_toolkit import environment

ROUNDS = 15
MODULES, MILLISECONDS, MEGABYTES = 60, 60, 30
IMPORT = """
import json, sys, time
before = set(sys.modules)
begin = time.process_time()
{imports}
spent = time.process_time() - begin
new = set(sys.modules) - before
memory = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps({{
    "milliseconds": spent * 1000,
    "modules": len([name for name in new if not name.startswith("training_launcher")]),
    "megabytes": memory / 1024,
}}))
"""
OURS = """
sys.path.insert(0, {path!r})
from training_launcher import zip_import
zip_import.compile_once()  # as __main__ does
import training_launcher.main
from training_launcher.launchers import launcher_kinds
launcher_kinds("torchrun")
"""
Measured = dict[str, float]


def rows() -> list[Row]:
    """The launcher against what it may take, and against the toolkit."""
    toolkit = str(environment() / "bin" / "python")
    ours: list[Measured] = []
    zipped: list[Measured] = []
    peer: list[Measured] = []
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "launcher.zip"
        zip_launcher(archive)
        for number in range(1 + ROUNDS):
            found = (
                _import(sys.executable, OURS.format(path=str(ROOT / "container" / "src"))),
                _import(sys.executable, OURS.format(path=str(archive))),
                _import(toolkit, "import sagemaker_training.cli.train"),
            )
            if number:  # the first writes the byte code
                for measured, kept in zip(found, (ours, zipped, peer), strict=True):
                    kept.append(measured)

    def row(
        what: str, measure: str, sides: tuple[list[Measured], list[Measured]], against: str, bar: float | None
    ) -> Row:
        values = [[measured[measure] for measured in side] for side in sides]
        return row_of(f"launcher: {what}", *values, against=against, unit=measure, bar=bar)

    may: list[Measured] = [{"modules": MODULES, "milliseconds": MILLISECONDS, "megabytes": MEGABYTES}] * ROUNDS
    return [
        row("modules besides its own", "modules", (ours, may), "the most", 1.0),
        row("CPU time of its import", "milliseconds", (ours, may), "the most", 1.0),
        row("CPU time of its import from the zip", "milliseconds", (zipped, may), "as much with byte code", None),
        row("memory after its import", "megabytes", (zipped, may), "the most", 1.0),
        row("CPU time of its import from the zip", "milliseconds", (zipped, peer), "sagemaker-training 5.1.4", 1.0),
    ]


def _import(python: str, imports: str) -> Measured:
    code = IMPORT.format(imports=imports)
    result = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True)
    measured: Measured = json.loads(result.stdout)
    return measured
