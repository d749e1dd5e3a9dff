"""On a bare machine the Makefile's scripts install what they need, or say in one line what to ask for."""

import shutil
import subprocess
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"
# a Python as Debian ships it: new enough, and without ensurepip
BARE_PYTHON = """case "$2" in
*version_info\\ \\<*) exit 0 ;;
*ensurepip*) exit 1 ;;
*) echo python3.11-venv ;;
esac"""


def stub(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder of programs that is the whole PATH: an ordinary user's, with apt-get and without sudo."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("sh", "dirname", "env"):
        (programs / name).symlink_to(str(shutil.which(name)))
    stub(programs, "id", "echo 1000")
    stub(programs, "apt-get", f'echo "$@" >>"{tmp_path}/installed"')
    stub(programs, "python3", BARE_PYTHON)
    return programs


def run(machine: Path, *argv: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in argv],
        cwd=machine.parent,
        env={"PATH": str(machine)},
        capture_output=True,
        text=True,
        check=False,
    )


def installed(machine: Path) -> str:
    record = machine.parent / "installed"
    return record.read_text() if record.exists() else ""


def test_a_python_that_is_not_there(machine: Path) -> None:
    done = run(machine, TOOLS / "make-venv.sh", "python3.99", "venv")
    assert done.returncode == 1
    assert done.stderr.startswith("There is no python3.99 here.")
    assert len(done.stderr.splitlines()) == 1


def test_a_python_that_is_too_old(machine: Path) -> None:
    stub(machine, "python3", 'case "$1" in --version) echo Python 3.9.6 ;; *) exit 1 ;; esac')
    done = run(machine, TOOLS / "make-venv.sh", "python3", "venv")
    assert done.returncode == 1
    assert "python3 is Python 3.9.6" in done.stderr


def test_without_rights_it_says_what_to_ask_for(machine: Path) -> None:
    done = run(machine, TOOLS / "make-venv.sh", "python3", "venv")
    assert done.returncode == 1
    assert "no sudo; ask for: apt-get install python3.11-venv" in done.stderr
    assert installed(machine) == ""


def test_with_sudo_it_installs(machine: Path) -> None:
    stub(machine, "sudo", '"$@"')
    run(machine, TOOLS / "make-venv.sh", "python3", "venv")
    assert "install -y -qq --no-install-recommends python3.11-venv" in installed(machine)


def test_as_root_it_installs_what_the_tests_run(machine: Path) -> None:
    stub(machine, "id", "echo 0")
    stub(machine, "buildah", "")
    done = run(machine, TOOLS / "system-packages.sh", "never-there:its-package")
    assert done.returncode == 0, done.stderr
    assert installed(machine).rstrip().endswith("its-package")
    assert "buildah" not in installed(machine)


def test_without_apt_a_missing_venv_module_is_named(machine: Path) -> None:
    (machine / "apt-get").unlink()
    done = run(machine, TOOLS / "make-venv.sh", "python3", "venv")
    assert done.returncode == 1
    assert "on Debian and Ubuntu: apt-get install python3.11-venv" in done.stderr
    assert run(machine, TOOLS / "system-packages.sh").returncode == 0
