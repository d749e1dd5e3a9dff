"""Every mistake gives one clear message with the fix, exit code 2, no traceback and no folder."""

from pathlib import Path

import pytest
from tests.cli.conftest import Dtrain
from tests.local.handmade_app import asset_uri, request, s3_channel, write_app

CHANNELS = [s3_channel("train", {"Fn::Sub": "s3://${Bucket83908E77}/train"}), s3_channel("code", asset_uri("aaaa.zip"))]
JOB = request(["true"], InputDataConfig=CHANNELS)
DATA = ("--channel", "train=data")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--app", "none"), "none does not exist: synthesize the app first"),
        (("Training/Jib",), "did you mean Training/Job?"),
        ((), "channel train reads s3://bucket83908e77/train, which is not on this machine: give it a folder with "
             "--channel train=FOLDER"),
        (("--channel", "train=nowhere"), "--channel train=nowhere: nowhere does not exist"),
        (("--channel", "train=cdk.out/manifest.json"), "json is a file, not a folder: give the folder cdk.out"),
        (("--channel", "trian=data"), "the job has no channel trian; did you mean train?"),
        (("--channel", "data"), "--channel data: expected NAME=VALUE, for example --channel train=./data"),
        ((*DATA, *DATA), "--channel train is given twice"),
        ((*DATA, "--hyperparameter", "lr"), "lr: expected NAME=VALUE, for example --hyperparameter lr=0.1"),
        ((*DATA, "--hyperparameter", "=1"), "expected NAME=VALUE"),
        ((*DATA, "--instance-count", "0"), "--instance-count"),
        ((*DATA, "--instance-count", "two"), "--instance-count"),
        ((*DATA, "--hosts", "docker"), "--hosts docker: expected namespaces or loopback"),
        ((*DATA, "--output", "data"), "the folder data is not empty (part is in it): choose another one with --output"),
        (("--app", "."), "the synthesized app is in cdk.out, so give --app cdk.out"),
        (("--app", "cdk.out/manifest.json"), "is a file, no folder: the synthesized app is in cdk.out"),
        (("--app", "broken"), "broken/manifest.json is no JSON"),
        (("--app", "other"), "other is not as `cdk synth` writes it"),
        ((*DATA, "--port", "4566"), "--port 4566 is the port of the emulation of AWS, and goes with --deploy only"),
        ((*DATA, "--port", "99999"), "--port"),
        ((*DATA, "Nothing/Alike"), "holds no training job Nothing/Alike; there are:"),
        ((*DATA, "--checkpoints", "none"), "the folder of checkpoints none does not exist"),
        ((*DATA, "--no-such-option"), "No such option"),
    ],
)  # fmt: skip
def test_one_message(arguments: tuple[str, ...], said: str, dtrain: Dtrain, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "part").touch()
    for folder, manifest in (("broken", '{"artifacts":'), ("other", '{"artifacts": ["Training"]}')):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "manifest.json").write_text(manifest)
    write_app(tmp_path / "cdk.out", {"Training/Job": JOB}, {"aaaa.zip": source})
    before = sorted(tmp_path.iterdir())
    result = dtrain("local", *arguments)
    assert result.returncode == 2, result.stdout
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert sorted(tmp_path.iterdir()) == before


def test_several_jobs_and_none_named(dtrain: Dtrain, tmp_path: Path) -> None:
    write_app(tmp_path / "cdk.out", {"Training/Small": request(["true"]), "Training/Large": request(["true"])})
    result = dtrain("local")
    assert result.returncode == 2
    assert result.stderr == (
        "dtrain: cdk.out holds 2 training jobs, name one of them:\n  Training/Large\n  Training/Small\n"
    )


def test_an_app_without_a_job(dtrain: Dtrain, tmp_path: Path) -> None:
    write_app(tmp_path / "cdk.out", {})
    result = dtrain("local")
    assert (result.returncode, result.stdout) == (2, "")
    assert "add a DistributedTrainingJob to the app and synthesize it again" in result.stderr


def test_a_number_of_hosts_cannot_override_groups(dtrain: Dtrain, tmp_path: Path) -> None:
    groups = [{"InstanceGroupName": "a", "InstanceType": "ml.c5.xlarge", "InstanceCount": 2}]
    write_app(tmp_path / "cdk.out", {"Training/Job": request(["true"], ResourceConfig={"InstanceGroups": groups})})
    result = dtrain("local", "--instance-count", "3")
    assert result.returncode == 2
    assert "the job has instance groups with their own counts" in result.stderr


def test_a_job_whose_entrypoint_is_in_its_image(dtrain: Dtrain, tmp_path: Path) -> None:
    write_app(tmp_path / "cdk.out", {"Training/Job": request([])})
    result = dtrain("local")
    assert result.returncode == 2
    assert "leaves the entrypoint to its image" in result.stderr
