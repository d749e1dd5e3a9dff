"""The user's code and the launcher as assets."""

import subprocess
import sys
import zipfile
from pathlib import Path

import aws_cdk as cdk
import pytest

import cdk_distributed_training as dt
from cdk_distributed_training.job.entry_point import ENTRY_POINT
from cdk_distributed_training.job.launcher_asset import launcher_asset


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "train.py").touch()
    return folder


def staged(tmp_path, make):
    """The files of the one asset that `make` defines in a stack."""
    app = cdk.App(analytics_reporting=False, outdir=str(tmp_path / "cdk.out"))
    make(cdk.Stack(app, "Stack"))
    app.synth()
    (asset,) = (tmp_path / "cdk.out").glob("asset.*")
    return {str(file.relative_to(asset)) for file in asset.rglob("*") if file.is_file()}, asset


def test_command(folder):
    source = dt.SourceCode.from_directory(folder, entry_script="train.py", arguments=["--a", "b c"])
    assert source.command() == ["train.py", "--a", "b c"]


def test_a_relative_folder(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    assert dt.SourceCode.from_directory("./project", entry_script="train.py").directory == folder


def test_what_stays_out(folder, tmp_path):
    for path in (
        *(".git/HEAD", ".venv/bin/python", "cdk.out/manifest.json", "__pycache__/train.pyc", "node_modules/a/b.js"),
        *("deep/__pycache__/x.pyc", "deep/module.py", "deep/.venv/y", "notes.md", "data/x.bin", "requirements.txt"),
    ):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).touch()
    source = dt.SourceCode.from_directory(folder, entry_script="train.py", exclude=["*.md", "data/"])
    files, _ = staged(tmp_path, lambda stack: source.bind(stack, "Code"))
    assert files == {"train.py", "deep/module.py", "requirements.txt"}


@pytest.mark.parametrize(
    ("path", "entry_script", "rule"),
    [
        ("missing", "train.py", "DT801"),
        ("project/train.py", "train.py", "DT801"),
        ("project", "other.py", "DT803"),
        ("project", "", "DT803"),
        ("project", "../elsewhere.py", "DT802"),
        ("project", "/etc/passwd", "DT802"),
    ],
)
def test_what_is_not_there(folder, path, entry_script, rule):
    with pytest.raises(dt.ConfigurationError) as raised:
        dt.SourceCode.from_directory(folder.parent / path, entry_script=entry_script)
    assert [finding.rule for finding in raised.value.findings] == [rule]


def test_a_missing_script_names_those_that_are_there(folder):
    with pytest.raises(dt.ConfigurationError, match=r"such as train\.py"):
        dt.SourceCode.from_directory(folder, entry_script="trian.py")


def test_the_launcher_runs_from_its_zip_file(tmp_path):
    """What CDK packs is what the job's command finds and starts."""
    files, asset = staged(tmp_path, lambda stack: launcher_asset(stack, "Launcher"))
    assert "__main__.py" in files
    assert not [file for file in files if file.endswith(".pyc")]
    channel = tmp_path / "ml" / "input" / "data" / "launcher"
    channel.mkdir(parents=True)
    with zipfile.ZipFile(channel / "0123.zip", "w") as archive:
        for file in files:
            archive.write(asset / file, file)
    done = run([*ENTRY_POINT, "--help"], tmp_path / "ml")
    assert done.returncode == 0, done.stderr
    assert "torchrun" in done.stdout


def test_a_job_without_the_launcher_says_so(tmp_path):
    done = run([*ENTRY_POINT, "--help"], tmp_path)
    assert done.returncode == 1
    assert done.stderr == "no zip file in channel launcher\n"


def run(command, base):
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    return subprocess.run(
        command, env={"SAGEMAKER_BASE_DIR": str(base), "PATH": path}, capture_output=True, text=True, check=False
    )
