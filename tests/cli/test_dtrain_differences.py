"""Jobs that ask for more than this machine has, or bring their launcher in an image."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Dtrain
from tests.local.handmade_app import ENTRYPOINT, request, write_app, write_launcher_app

METADATA = "Training.metadata.json"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "train.py").write_text("import sys\nprint('arguments', sys.argv[1:])\n")
    return folder


def write_image_job(folder: Path, source: Path, *, in_environment: bool, declared: bool = True) -> None:
    """A job without a command, as one has whose image has the launcher for its entry point."""
    write_launcher_app(folder, source, "train.py", HyperParameters={"lr": "0.1"})
    metadata = json.loads((folder / METADATA).read_text())
    data: dict[str, Any] = metadata["/Training/Job"][1]["data"]
    algorithm = data["request"]["AlgorithmSpecification"]
    assert algorithm.pop("ContainerEntrypoint") == ENTRYPOINT
    if in_environment:
        words = json.dumps(algorithm.pop("ContainerArguments"))
        data["request"]["Environment"] = {"TRAINING_LAUNCHER_ARGUMENTS": words}
    data["request"]["InputDataConfig"] = data["request"]["InputDataConfig"][1:]
    data["launcher_inside"] = declared
    (folder / METADATA).write_text(json.dumps(metadata))


@pytest.mark.parametrize("hosts", ["namespaces", "loopback"])
@pytest.mark.parametrize("in_environment", [False, True])
def test_an_image_with_the_launcher_runs_by_this_one(
    dtrain: Dtrain, tmp_path: Path, source: Path, hosts: str, in_environment: bool
) -> None:
    write_image_job(tmp_path / "cdk.out", source, in_environment=in_environment)
    result = dtrain("local", "--hosts", hosts, "--output", "run")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "stands in for the launcher in the job's image" in result.stdout
    assert "arguments ['--lr', '0.1']" in (tmp_path / "run/algo-1.log").read_text()
    assert "arguments ['--lr', '0.1']" in (tmp_path / "run/algo-2.log").read_text()


def test_an_image_that_does_not_declare_it_is_refused(dtrain: Dtrain, tmp_path: Path, source: Path) -> None:
    write_image_job(tmp_path / "cdk.out", source, in_environment=False, declared=False)
    refused = dtrain("local")
    assert refused.returncode == 2
    assert "leaves the entrypoint to its image" in refused.stderr


def test_a_job_for_efa_says_what_stops_it_and_runs_without(dtrain: Dtrain, tmp_path: Path, source: Path) -> None:
    options = ("--nproc-per-node", "1", "--require-efa", "--collectives", "neuron")
    write_launcher_app(tmp_path / "cdk.out", source, "train.py", options=options)
    refused = dtrain("local")
    assert refused.returncode == 2
    assert "the job has --require-efa, and this machine lacks an EFA device" in refused.stderr
    assert "the job has --collectives neuron, and this machine lacks a Neuron device" in refused.stderr
    assert not (tmp_path / "local-runs").exists()
    result = dtrain("local", "--without-accelerators")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "without --require-efa: this machine lacks an EFA device" in result.stdout
    assert "arguments []" in result.stdout


def test_pipes_are_refused(dtrain: Dtrain, tmp_path: Path) -> None:
    source = {"S3DataSource": {"S3Uri": "s3://bucket/train"}}
    channel = {"ChannelName": "train", "InputMode": "Pipe", "DataSource": source}
    one = request(["true"], InputDataConfig=[channel])
    write_app(tmp_path / "cdk.out", {"Training/Job": one})
    refused = dtrain("local", "--channel", f"train={tmp_path}")
    assert refused.returncode == 2
    assert "channel train: input mode Pipe" in refused.stderr
