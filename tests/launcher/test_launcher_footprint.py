"""The launcher is small: it starts before everything else on every host."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from launcher_job import SOURCE, zip_folder

COUNT = """
import json, sys
before = set(sys.modules)
sys.path.insert(0, sys.argv[1])
from training_launcher import zip_import
zip_import.compile_once()
import training_launcher.main
from training_launcher.launchers import launcher_kinds
launcher_kinds()
new = sorted(set(sys.modules) - before)
memory = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps({"new": new, "memory": memory}))
"""


COMPILED = """
import builtins, collections, runpy, sys
counts, compile = collections.Counter(), builtins.compile
def counted(source, name, *rest, **options):
    counts[name] += 1
    return compile(source, name, *rest, **options)
builtins.compile = counted
try:
    sys.argv[1:] = [sys.argv[1], "--help"]
    runpy.run_path(sys.argv.pop(1), run_name="__main__")
finally:
    print(max(number for name, number in counts.items() if name.endswith(("/run.py", "/plan.py", "/leader.py"))))
"""


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("zip") / "launcher.zip"
    zip_folder(SOURCE, path)
    return path


def test_imports_and_memory(archive: Path) -> None:
    """Standard library only, under 60 modules of it and 30 MB."""
    result = subprocess.run(
        [sys.executable, "-I", "-S", "-c", COUNT, str(archive)], check=True, capture_output=True, text=True
    )
    found = json.loads(result.stdout)
    names = {name.split(".")[0] for name in found["new"]}
    assert names - {"training_launcher"} <= sys.stdlib_module_names
    assert len([name for name in found["new"] if not name.startswith("training_launcher")]) < 60, found["new"]
    heavy = {
        "asyncio",
        "dataclasses",
        "inspect",
        "logging",
        "ssl",
        "tempfile",
        "unittest",
        "ctypes",
        "zipfile",
        "http",
        "email",
    }
    assert not names & heavy, names & heavy
    assert found["memory"] < 30 * 1024


def test_nothing_is_compiled_twice(archive: Path) -> None:
    """As Python's own import from a zip would; it is most of what the launcher takes to start."""
    result = subprocess.run(
        [sys.executable, "-I", "-c", COMPILED, str(archive)], check=True, capture_output=True, text=True
    )
    assert result.stdout.splitlines()[-1] == "1"


def test_the_zip_is_a_program(archive: Path) -> None:
    result = subprocess.run([sys.executable, str(archive), "--help"], check=True, capture_output=True, text=True)
    assert "torchrun" in result.stdout
    assert "processes" in result.stdout


@pytest.mark.parametrize("kind", ["torchrun", "smp-v1", "parameter-server"])
def test_a_job_reads_no_other_kinds_file(archive: Path, kind: str) -> None:
    code = "import sys; sys.path.insert(0, sys.argv[1]); from training_launcher.launchers import launcher_kinds"
    result = subprocess.run(
        [
            sys.executable,
            "-I",
            "-c",
            f"{code}\nprint(*launcher_kinds('{kind}'), len(launcher_kinds()) > 9)",
            str(archive),
        ],
        check=True,
        capture_output=True,
        text=True,
    )
    assert result.stdout == f"{kind} True\n"


def test_a_wrong_command_line_ends_with_one_line_and_a_failure_file(archive: Path, tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, str(archive), "torchrun", "--base-dir", str(tmp_path), "train.py"],
        check=False,
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"]},
    )
    assert result.returncode == 2
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.endswith((tmp_path / "output/failure").read_text())
