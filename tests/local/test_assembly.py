"""Reading a cloud assembly."""

import json
from pathlib import Path

import pytest
from tests.local.handmade_app import LAUNCHER, request, write_app

from cdk_distributed_training.local.assembly import Assembly
from cdk_distributed_training.local.errors import LocalModeError


def one_app(folder: Path, *paths: str) -> Path:
    return write_app(folder, {path: request(["true"]) for path in paths}, {"aaaa.zip": LAUNCHER})


def test_the_only_job_needs_no_name(tmp_path: Path) -> None:
    job = Assembly(one_app(tmp_path, "Training/Job")).find()
    assert (job.path, job.job_name, job.stack.name) == ("Training/Job", "training-job", "Training")
    assert (job.stack.account, job.stack.region) == (None, None)
    assert job.request["ResourceConfig"]["InstanceCount"] == 2
    assert job.assets["aaaa.zip"].path == LAUNCHER
    assert job.assets["aaaa.zip"].packaging == "zip"


def test_several_jobs_are_listed_when_none_is_named(tmp_path: Path) -> None:
    assembly = Assembly(one_app(tmp_path, "Training/Small", "Training/Large"))
    with pytest.raises(LocalModeError, match=r"2 training jobs, name one of them:\n  Training/Large\n  Training/Small"):
        assembly.find()
    assert assembly.find("Training/Large").path == "Training/Large"


@pytest.mark.parametrize(
    ("given", "said"),
    [("Training/Smal", "did you mean Training/Small?"), ("zzz", "there are:\n  Training/Small")],
)
def test_an_unknown_job_brings_the_nearest(given: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(LocalModeError) as caught:
        Assembly(one_app(tmp_path, "Training/Small")).find(given)
    assert f"no training job {given}" in str(caught.value)
    assert said in str(caught.value)


def test_an_app_without_jobs_is_said(tmp_path: Path) -> None:
    with pytest.raises(LocalModeError, match="holds no training job: add a DistributedTrainingJob"):
        Assembly(one_app(tmp_path)).find()


def test_a_missing_assembly_is_said(tmp_path: Path) -> None:
    with pytest.raises(LocalModeError, match=r"none does not exist: synthesize the app first \(`cdk synth`\)"):
        Assembly(tmp_path / "none")
    with pytest.raises(LocalModeError, match=r"holds no manifest\.json"):
        Assembly(tmp_path)


@pytest.mark.parametrize("damage", [lambda file: file.unlink(), lambda file: file.write_text("{")])
def test_a_damaged_assembly_is_said(damage, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    app = one_app(tmp_path, "Training/Job")
    damage(app / "Training.metadata.json")
    with pytest.raises(LocalModeError, match=r"Training\.metadata\.json is .*synthesize the app again"):
        Assembly(app).find()


def test_another_schema_is_refused(tmp_path: Path) -> None:
    app = one_app(tmp_path, "Training/Job")
    file = app / "Training.metadata.json"
    file.write_text(file.read_text().replace('"schema": 1', '"schema": 2'))
    with pytest.raises(LocalModeError, match=r"Training/Job was synthesized by another version .*schema 2"):
        Assembly(app).find()


def test_metadata_inside_the_manifest_of_an_older_cli(tmp_path: Path) -> None:
    app = one_app(tmp_path, "Training/Job")
    manifest = json.loads((app / "manifest.json").read_text())
    artifact = manifest["artifacts"]["Training"]
    artifact["metadata"] = json.loads((app / artifact.pop("additionalMetadataFile")).read_text())
    (app / "manifest.json").write_text(json.dumps(manifest))
    assert Assembly(app).find().path == "Training/Job"


def test_stages_are_assemblies_inside(tmp_path: Path) -> None:
    one_app(tmp_path / "assembly-Prod", "Prod/Training/Job")
    stage = {"type": "cdk:cloud-assembly", "properties": {"directoryName": "assembly-Prod"}}
    (tmp_path / "manifest.json").write_text(json.dumps({"version": "48.0.0", "artifacts": {"assembly-Prod": stage}}))
    job = Assembly(tmp_path).find("Prod/Training/Job")
    assert job.assets["aaaa.zip"].path == LAUNCHER


def test_account_and_region_of_a_pinned_stack(tmp_path: Path) -> None:
    app = one_app(tmp_path, "Training/Job")
    text = (app / "manifest.json").read_text()
    (app / "manifest.json").write_text(
        text.replace("aws://unknown-account/unknown-region", "aws://111122223333/eu-west-1")
    )
    stack = Assembly(app).find().stack
    assert (stack.account, stack.region) == ("111122223333", "eu-west-1")
