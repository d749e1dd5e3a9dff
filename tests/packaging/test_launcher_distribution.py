"""The launcher installs alone, needs nothing but Python, and runs as a zip."""

import ast
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "container" / "src"
# The one module for the user's own script, which has torch by definition; the launcher never imports it.
FOR_SCRIPTS = {"torch"}


def imported_modules(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add((node.module or "").partition(".")[0])
    return names


def belongs_to_scripts(path: Path) -> bool:
    return any(part.removesuffix(".py") in FOR_SCRIPTS for part in path.relative_to(SOURCE / "training_launcher").parts)


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_only_the_standard_library(path: Path) -> None:
    allowed = {*sys.stdlib_module_names, "training_launcher"}
    if path.parent != SOURCE and belongs_to_scripts(path):
        allowed.add("torch")
    assert imported_modules(path) <= allowed


@pytest.fixture(scope="module")
def empty_environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("launcher")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder],
        cwd=ROOT / "container",
        check=True,
        capture_output=True,
    )
    venv.create(folder / "environment", with_pip=True)
    wheel = next(folder.glob("training_launcher-*.whl"))
    python = folder / "environment" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--no-index", "--quiet", wheel], check=True)
    return folder / "environment" / "bin"


def test_installs_with_no_index_and_runs(empty_environment: Path) -> None:
    command = empty_environment / "training-launcher"
    done = subprocess.run([command, "--help"], check=True, capture_output=True, text=True)
    assert "torchrun" in done.stdout


def test_the_folder_zipped_runs(tmp_path: Path) -> None:
    launcher = tmp_path / "launcher.zip"
    with zipfile.ZipFile(launcher, "w") as file:
        for path in sorted(SOURCE.rglob("*.py")):
            file.write(path, path.relative_to(SOURCE))
    # -I -S: no site-packages, so nothing installed here can help
    done = subprocess.run([sys.executable, "-I", "-S", launcher, "--help"], check=True, capture_output=True, text=True)
    assert "torchrun" in done.stdout
