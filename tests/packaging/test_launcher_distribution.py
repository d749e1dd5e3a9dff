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
# What runs in a process that has torch by definition: the helpers in the user's script, torchrun's agent, and the
# preflight's all-reduce. The launcher itself imports none of them.
IN_TORCH_PROCESSES = {"torch", "torchrun_agent.py", "all_reduce.py"}


def imported_modules(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add((node.module or "").partition(".")[0])
    return names


def runs_beside_torch(path: Path) -> bool:
    return bool(IN_TORCH_PROCESSES.intersection(path.relative_to(SOURCE).parts))


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_only_the_standard_library(path: Path) -> None:
    allowed = {*sys.stdlib_module_names, "training_launcher"}
    if runs_beside_torch(path):
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


def test_the_launcher_itself_imports_none_of_what_needs_torch() -> None:
    show = "import sys, training_launcher.main; print('torch' in sys.modules, sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", show], cwd=SOURCE, check=True, capture_output=True, text=True)
    assert done.stdout.startswith("False")
    assert not [name for name in IN_TORCH_PROCESSES if f"launcher.{name.removesuffix('.py')}'" in done.stdout]
