"""`import constructs` must be AWS's library in every way people run things here (docs/decisions/0002)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHOW = "import constructs, aws_cdk; print('FOUND', constructs.__file__)"


def test_the_folder_has_no_init() -> None:
    assert not (ROOT / "constructs" / "__init__.py").exists()


@pytest.fixture
def asking_test(tmp_path: Path) -> Path:
    test = tmp_path / "test_asks.py"
    test.write_text(f"def test_it():\n    {SHOW}\n")
    return test


def run(*argv: str, cwd: Path = ROOT) -> str:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "PYTHON"))}
    done = subprocess.run(argv, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(line for line in done.stdout.splitlines() if "FOUND" in line)


def assert_is_aws(line: str) -> None:
    assert Path(line.split("FOUND ")[1]).parent.parent.name == "site-packages", line


def test_python_in_the_root() -> None:
    assert_is_aws(run(sys.executable, "-c", SHOW))


def test_a_script_in_the_root() -> None:
    script = ROOT / "asks_for_constructs.py"
    script.write_text(SHOW)
    try:
        assert_is_aws(run(sys.executable, script.name))
    finally:
        script.unlink()


def test_pytest(asking_test: Path) -> None:
    assert_is_aws(
        run(str(Path(sys.executable).parent / "pytest"), "-s", "-q", str(asking_test), "-p", "no:cacheprovider")
    )


def test_python_m_pytest(asking_test: Path) -> None:
    assert_is_aws(run(sys.executable, "-m", "pytest", "-s", "-q", str(asking_test), "-p", "no:cacheprovider"))


def test_cdk_synth_in_the_root(tmp_path: Path) -> None:
    app = tmp_path / "app.py"
    app.write_text(f"{SHOW}\nimport aws_cdk as cdk\napp = cdk.App()\ncdk.Stack(app, 'Empty')\napp.synth()\n")
    cdk = ROOT / "node_modules" / ".bin" / "cdk"
    line = run(str(cdk), "synth", "--app", f"{sys.executable} {app}", "--output", str(tmp_path / "out"), "--no-notices")
    assert_is_aws(line)
