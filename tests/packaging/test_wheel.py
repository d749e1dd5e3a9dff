"""The wheel alone, outside of the checkout, synthesizes the same job as the checkout."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
APP = """
import sys
import aws_cdk as cdk
import cdk_distributed_training as dt

app = cdk.App(outdir=sys.argv[1], analytics_reporting=False)
stack = cdk.Stack(app, "Wheel")
dt.DistributedTrainingJob(
    stack,
    "Job",
    source=dt.SourceCode.from_directory(sys.argv[2], entry_script="train.py"),
    instances=dt.Instances("ml.c7i.2xlarge", count=2),
)
app.synth()
print(dt.__file__)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    return next(folder.glob("cdk_distributed_training-*.whl"))


@pytest.fixture(scope="module")
def wheel_python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel; its dependencies come from the tests' own, which need not be fetched again."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--no-index", "--no-deps", "--quiet", wheel], check=True)
    paths = sysconfig.get_paths(vars={"base": str(folder), "platbase": str(folder)})
    # A plain path line: editable installs of the other environment, which .pth files make, are not followed from here.
    (Path(paths["purelib"]) / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return python


def synthesize(python: Path, folder: Path) -> tuple[Path, dict[str, object], set[str]]:
    folder.mkdir()
    source = folder / "source"
    source.mkdir()
    (source / "train.py").write_text("print('hello')\n")
    app = folder / "app.py"
    app.write_text(APP)
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "CDK_OUTDIR")}
    done = subprocess.run(
        [python, app, folder / "cdk.out", source],
        cwd=folder,
        env={**environment, "CDK_VALIDATION": "false"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assets = json.loads((folder / "cdk.out" / "Wheel.assets.json").read_text())["files"]
    template = json.loads((folder / "cdk.out" / "Wheel.template.json").read_text())
    return Path(done.stdout.splitlines()[-1]), template, set(assets)


def test_the_wheel_carries_the_container_folder(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        names = set(file.namelist())
    inside = "cdk_distributed_training/container"
    assert {f"{inside}/Dockerfile", f"{inside}/src/__main__.py", f"{inside}/src/training_launcher/main.py"} <= names
    assert not [name for name in names if name.endswith(".pyc") or "__pycache__" in name]


def test_the_wheel_does_not_grow_unnoticed(wheel: Path) -> None:
    # Sources of the library, of the launcher and of local mode, in many small files; nothing that was built.
    # 909 kB in December 2026, and 5 % to grow: docs/decisions/0032 says what fills it.
    assert wheel.stat().st_size < 955_000


def test_same_job_and_same_assets_as_the_checkout(wheel_python: Path, tmp_path: Path) -> None:
    package, template, assets = synthesize(wheel_python, tmp_path / "wheel")
    assert ROOT not in package.parents, "the checkout was imported, not the wheel"
    _, expected_template, expected_assets = synthesize(Path(sys.executable), tmp_path / "checkout")
    assert assets == expected_assets
    assert template == expected_template
